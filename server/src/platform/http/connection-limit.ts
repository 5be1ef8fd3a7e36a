import type { Server, Socket } from 'node:net'
import { MINUTE_MS } from '../clock.ts'
import type { Log } from '../log.ts'

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
    socket.once('close', () => release(openByAddress, address))
  })
}

function release(openByAddress: Map<string, number>, address: string): void {
  const open = (openByAddress.get(address) ?? 1) - 1
  if (open > 0) openByAddress.set(address, open)
  else openByAddress.delete(address)
}
