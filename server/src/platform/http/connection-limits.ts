import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { MINUTE_MS } from '../clock.ts'
import type { Log } from '../log.ts'
import type { ApiError } from './api-error.ts'
import { requestTooSlow } from './errors.ts'
import { hasUnreadBody } from './unread-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The body may take `REQUEST_MS_MAX`. The route itself watches how it arrives.
     */
    longBody?: true
  }
}

export const HEADERS_MS_MAX = 10_000
/** From the first byte of the headers to the last byte of the body, on any route. */
export const REQUEST_MS_MAX = 30 * 60_000
/** Longer than the 60 seconds after which load balancers usually drop an idle connection. */
export const KEEP_ALIVE_MS = 65_000
export const BODY_MS_MAX = 30_000

/** How often Node looks for connections that exceed `HEADERS_MS_MAX` or `REQUEST_MS_MAX`. */
export const TIME_LIMITS_CHECK_MS = 2_000

/** Answers 408 when the body takes too long to arrive. Routes with `longBody` are exempt. */
export function registerBodyTimeout(app: FastifyInstance, bodyMsMax: number): void {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { raw } = request
    if (raw.headers.expect !== undefined && raw.httpVersion === '1.1') reply.raw.writeContinue()
    if (hasUnreadBody(raw) && !request.routeOptions.config.longBody) {
      const timer = setTimeout(() => {
        interrupt(raw, requestTooSlow(`The body did not arrive within ${bodyMsMax / 1000} seconds.`))
      }, bodyMsMax)
      for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer))
      // A request whose response has ended is not closed with its connection.
      reply.raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}

/**
 * The reader of the body listens for this event, stops reading, and passes the error on. A body
 * that no route reads has no listener, and Node would end the process.
 */
function interrupt(raw: IncomingMessage, error: ApiError): void {
  if (raw.listenerCount('error') > 0) raw.emit('error', error)
}

/**
 * Closes new connections from a remote address that already has `max` open ones. 0 means no limit.
 * Behind a proxy, all connections come from the proxy's address.
 */
export function limitConnectionsPerAddress(server: Server, max: number, log: Log): void {
  if (max === 0) return
  const openByAddress = new Map<string, number>()
  let warnedAtMs = Number.NEGATIVE_INFINITY
  // Before Node's own listener, which ignores a socket that is already destroyed.
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const open = openByAddress.get(address) ?? 0
    if (open >= max) {
      socket.destroy()
      if (performance.now() - warnedAtMs < MINUTE_MS) return
      warnedAtMs = performance.now()
      return void log.warn({ address, max }, 'Too many open connections from one address; further ones are closed')
    }
    openByAddress.set(address, open + 1)
    socket.once('close', () => {
      const left = (openByAddress.get(address) ?? 1) - 1
      if (left > 0) openByAddress.set(address, left)
      else openByAddress.delete(address)
    })
  })
}

/**
 * The network by which limits count an address. An IPv6 network of 64 bits has one owner, who can
 * use any of its addresses.
 */
export function getNetwork(address: string | null): string {
  if (!address?.includes(':')) return address ?? 'unknown'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? []
  const [before, after] = [head, tail].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const network = [...before, ...zeros, ...after].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
