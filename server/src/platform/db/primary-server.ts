import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openClient, type Client as Sql } from './client/client.ts'
import { type DatabaseHost, readHosts } from './client/database-url.ts'
import { toTarget } from './client/target.ts'

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

const ANSWER_MS_MAX = 2000

/** Asks a server whether it can be written to, on a connection that does not keep us running. */
class ServerProbe {
  readonly host: DatabaseHost
  #sql: Sql | null = null

  constructor(host: DatabaseHost) {
    this.host = host
  }

  /**
   * The timeline of a server that can be written to, which every promotion raises; null for a
   * standby, and for a server that does not answer in time.
   */
  async timeline(): Promise<number | null> {
    const sql = this.#sql ?? this.#open()
    this.#sql = sql
    const expired = new AbortController()
    const answer = Promise.race([
      readTimeline(sql),
      delay(ANSWER_MS_MAX, undefined, expired).then(() => Promise.reject(new Error('no answer'))),
    ])
    try {
      return await answer
    } catch {
      this.#sql = null
      sql.end({ timeout: 0 }).catch(() => {})
      return null
    } finally {
      expired.abort()
    }
  }

  #open(): Sql {
    const parameters = { application_name: 'shiplock watch' }
    const target = toTarget(this.host.url, { parameters, connectMs: ANSWER_MS_MAX })
    return openClient({ max: 1, isLasting: true, target: () => ({ ...target, isBackground: true }) })
  }
}

async function readTimeline(sql: Sql): Promise<number | null> {
  const [row] = await sql<[{ timeline: string | null }]>`
    select case
      when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null
      else left(pg_walfile_name(pg_current_wal_lsn()), 8)
    end as timeline`
  return row.timeline === null ? null : Number.parseInt(row.timeline, 16)
}
