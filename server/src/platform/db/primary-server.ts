import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type DatabaseHost, readHosts } from './client/database-url.ts'
import { ServerProbe } from './server-probe.ts'

const FIND_MS_MAX = 10_000
const WATCH_EVERY_MS = 1000
const SEARCH_EVERY_MS = 250

const known = new Map<string, PrimaryServer>()

/**
 * The server of an address that can be written to; null for an address with a single server. All
 * pools of this thread share it.
 */
export function getPrimary(url: string): PrimaryServer | null {
  const hosts = readHosts(url)
  if (hosts === null) return null
  const primary = known.get(url) ?? new PrimaryServer(hosts)
  known.set(url, primary)
  return primary
}

/** Waits until the server of an address is found that can be written to, for 10 s at most. */
export async function findPrimary(url: string): Promise<void> {
  await getPrimary(url)?.find()
}

/**
 * Follows the server that can be written to, from one host to another: the present one is asked
 * every second, and if it cannot be written to, all are. A change closes the connections to the
 * other servers, because a machine that is lost does not close them itself. What waited for them
 * fails as unreachable.
 */
class PrimaryServer {
  readonly #probes: ServerProbe[]
  readonly #sockets = new Map<Socket, DatabaseHost>()
  #current: DatabaseHost
  #found: Promise<void> | null = null

  constructor(hosts: DatabaseHost[]) {
    this.#probes = hosts.map((host) => new ServerProbe(host))
    this.#current = hosts[0] as DatabaseHost
  }

  /** The address of the server for a new connection. */
  get url(): string {
    return this.#current.url
  }

  /** A socket that the caller connects to the server at `url`. It is closed when that changes. */
  track(): Socket {
    for (const socket of this.#sockets.keys()) if (socket.destroyed) this.#sockets.delete(socket)
    const socket = new Socket()
    this.#sockets.set(socket, this.#current)
    return socket
  }

  /** Finds the server for the first time, and follows it from then on. Throws if none is found. */
  find(): Promise<void> {
    this.#found ??= this.#findFirst()
    return this.#found
  }

  async #findFirst(): Promise<void> {
    const until = performance.now() + FIND_MS_MAX
    while (!(await this.#search())) {
      if (performance.now() > until) throw new NoPrimaryError(this.#probes.map(({ host }) => host))
      await delay(SEARCH_EVERY_MS)
    }
    void this.#watch()
  }

  async #watch(): Promise<never> {
    for (let isThere = true; ; ) {
      await delay(isThere ? WATCH_EVERY_MS : SEARCH_EVERY_MS, undefined, { ref: false })
      const present = this.#probes.find(({ host }) => host === this.#current)
      isThere = (await present?.timeline()) !== null || (await this.#search())
    }
  }

  /** Of several servers that can be written to, the last one that was promoted counts. */
  async #search(): Promise<boolean> {
    const timelines = await Promise.all(this.#probes.map((probe) => probe.timeline()))
    const newest = Math.max(...timelines.map((timeline) => timeline ?? 0))
    const found = this.#probes[timelines.indexOf(newest)]
    if (newest === 0 || found === undefined) return false
    this.#current = found.host
    for (const [socket, host] of this.#sockets) if (host !== this.#current) socket.destroy()
    return true
  }
}

class NoPrimaryError extends Error {
  readonly code = 'CONNECT_TIMEOUT'

  constructor(hosts: DatabaseHost[]) {
    super(`None of these servers can be written to: ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`)
  }
}
