import type { Server } from 'node:http'
import { type AddressInfo, createServer, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpServer } from './http-server.ts'

/** The port that a server will listen on. */
export type ChosenPort = {
  number: number
  /** Starts listening. Fails as `listen` does: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(server: Server): Promise<void>
  /** Frees the port where nothing listens on it yet. */
  release(): Promise<void>
}

/**
 * A given port is not opened until `listen`, so that clients are refused, and never reset, while
 * the server starts. Port 0 becomes a free port, which is reserved until then.
 */
export async function selectPort(host: string, port: number): Promise<ChosenPort> {
  if (port !== 0) return { number: port, listen: (server) => listen(server, { host, port }), release: async () => {} }
  const holder = createServer((socket) => socket.destroy())
  await listen(holder, { host, port })
  let handedOver = false
  return {
    number: (holder.address() as AddressInfo).port,
    listen: (server) => {
      handedOver = true
      return listen(server, holder)
    },
    release: async () => {
      if (!handedOver) await new Promise((resolve) => holder.close(resolve))
    },
  }
}

async function listen(server: NetServer, where: { host: string; port: number } | NetServer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

type StopOptions = {
  /** How long idle connections stay open for a request that is already on its way. */
  idleGraceMs: number
  /** How long requests in flight may take. */
  drainMs: number
  /**
   * How long the port stays open while `/readyz` already answers 503, so that a load balancer sends
   * nothing more.
   */
  noticeMs?: number
}

/** Twice the connections that may wait: the system keeps 511 for a port, by Node's default. */
const ACCEPT_TURNS_MAX = 1024
const IDLE_CHECK_MS = 50
/** What `onClose` hooks do may wait for a database that does not answer. */
const HOOKS_MS_MAX = 2000

/**
 * Prepares the server to close once every request in flight is answered. The port is closed first.
 * Responses then contain `Connection: close`, also to requests that still arrive on open
 * connections. Register it after all routes: what their `preClose` hooks release is answered first.
 */
export async function registerGracefulStop(app: HttpServer, { idleGraceMs, drainMs, noticeMs = 0 }: StopOptions) {
  const { server } = app
  const unused = trackUnusedSockets(server)
  const closeIdle = () => {
    server.closeIdleConnections()
    for (const socket of unused) socket.destroy()
  }
  const disconnected = Promise.withResolvers<void>()
  await app.register(async (plugin) => {
    plugin.addHook('preClose', () => disconnected.promise)
  })
  return async (): Promise<void> => {
    app.stopping.isStopping = true
    if (noticeMs > 0) await delay(noticeMs)
    await acceptWaiting(server)
    // Not the HTTP server's own `close`, which destroys idle connections at once.
    NetServer.prototype.close.call(server, () => disconnected.resolve())
    const closed = app.close()
    const force = setTimeout(() => server.closeAllConnections(), drainMs)
    await Promise.race([disconnected.promise, delay(idleGraceMs, undefined, { ref: false })])
    closeIdle()
    // Connections become idle one by one, after their last response.
    const idleCheck = setInterval(closeIdle, IDLE_CHECK_MS)
    await Promise.race([closed, delay(drainMs + HOOKS_MS_MAX, undefined, { ref: false })])
    clearInterval(idleCheck)
    clearTimeout(force)
  }
}

/**
 * Accepts the connections that are waiting, because closing the port resets them. Node accepts one
 * in each turn of the event loop, and none in a turn that began after it looked for them.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted += 1
  }
  server.on('connection', count)
  for (let before = -1, turn = 0; before < accepted && turn < ACCEPT_TURNS_MAX; turn += 1) {
    before = accepted
    for (let half = 0; half < 2; half += 1) await nextTurn()
  }
  server.off('connection', count)
}

/**
 * Connections on which no request has arrived yet, such as a browser's spare ones. Node does not
 * count them as idle.
 */
function trackUnusedSockets(server: Server): Set<Socket> {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  return unused
}
