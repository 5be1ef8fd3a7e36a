import { Listener, type Subscription } from './listener.ts'
import { Pool } from './pool.ts'
import type { Query } from './query.ts'
import { createStatements, type ReservedConnection, type Statements, type Transaction } from './statements.ts'
import type { Target } from './target.ts'
import { reserve, runTransaction } from './transaction.ts'

export type ClientOptions = {
  max: number
  /** Called for each connection, because the server can change. */
  target(): Target
  /** How long to wait for a server that is not a standby. Without it, the server can be one. */
  primaryMs?: number
  /** Keeps connections open instead of replacing them periodically, so that session locks last. */
  isLasting?: boolean
  /** Counts the connections in exclusive use. */
  exclusive?(change: 1 | -1): void
  /** Called with each statement of the pool before it is sent. */
  asked?(query: Query<unknown>): void
  /** Called with the text of each notice of the server. */
  noticed?(message: string): void
  /** Called when a connection has ended, for any reason. */
  closed?(): void
}

/** A pool of connections to a database. */
export interface Client extends Statements {
  readonly options: ClientOptions
  /** Runs a transaction. `mode` is what follows `begin`. */
  begin<Result>(work: (tx: Transaction) => Result | Promise<Result>): Promise<Result>
  begin<Result>(mode: string, work: (tx: Transaction) => Result | Promise<Result>): Promise<Result>
  /** A connection that nobody else uses until it is released. */
  reserve(): Promise<ReservedConnection>
  /**
   * Calls `notify` with the payloads of a channel. Calls `listening` as soon as they arrive, and
   * whenever some may have been lost.
   */
  listen(channel: string, notify: (payload: string) => void, listening?: () => void): Promise<Subscription>
  /**
   * Ends the connections when what is in progress has ended, or else after a time in seconds.
   */
  end(options?: { timeout?: number }): Promise<void>
}

/** Opens a pool, which connects on first use. */
export function openClient(options: ClientOptions): Client {
  const pool = new Pool({ primaryMs: 0, isLasting: false, ...options })
  const listener = new Listener(options.target)
  const begin = (...[first, second]: [unknown, unknown?]) =>
    typeof first === 'string'
      ? runTransaction(pool, first, second as (tx: Transaction) => unknown)
      : runTransaction(pool, '', first as (tx: Transaction) => unknown)
  const listen: Client['listen'] = (channel, notify, listening = () => {}) =>
    listener.listen(channel, notify, listening)
  const end: Client['end'] = async (how) => {
    await Promise.all([pool.end(how), listener.end()])
  }
  const statements = createStatements((query) => {
    options.asked?.(query)
    pool.run(query)
  })
  return Object.assign(statements, { options, begin, reserve: () => reserve(pool), listen, end }) as Client
}
