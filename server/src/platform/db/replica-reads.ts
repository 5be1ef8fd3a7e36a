import { setTimeout as delay } from 'node:timers/promises'
import { Batch } from '../concurrency.ts'
import type { Log } from '../log.ts'
import { defineCounter } from '../metrics.ts'
import { isUnreachable } from '../unreachable.ts'
import { getSqlState, type Sql } from './sql.ts'

/** How long a list may wait until the replica has what was committed before the request. */
const REPLAY_MS_MAX = 100
const REPLAY_POLL_MS = 5
/** How long a replica that is behind, or does not answer, is left alone. */
const PAUSE_MS = 2000
const READ_MS_MAX = 10_000
/** A query that the replica cancels, because it would hold up the replay. */
const RECOVERY_CONFLICT = '40001'

const readFrom = defineCounter(
  'shiplock_replica_reads_total',
  'Lists and charts that were read while a replica was configured, by the server they came from: replica or primary.',
  ['server'],
)

/**
 * Reads from the replica, if there is one and it already has everything that was committed before
 * the read, and otherwise from the primary server (docs/adr/0025-replica-reads.md).
 */
export class ReplicaReads {
  readonly #primary: Sql
  readonly #replica: Sql | null
  readonly #log: Log
  readonly #checks: Batch<null, boolean>
  #pausedUntil = 0

  constructor(primary: Sql, replica: Sql | null, log: Log) {
    this.#primary = primary
    this.#replica = replica
    this.#log = log
    this.#checks = new Batch(async (reads) => {
      const isCurrent = await this.#isCurrent()
      return reads.map(() => isCurrent)
    })
  }

  /** `work` must only read: it is repeated on the primary server if the replica fails. */
  async read<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const replica = this.#replica
    if (replica === null) return work(this.#primary)
    if (performance.now() < this.#pausedUntil) return this.#readPrimary(work)
    // All reads that wait share one check, which begins after each of them has arrived.
    if (!(await this.#checks.add(null))) return this.#readPrimary(work)
    try {
      const result = await within(READ_MS_MAX, work(replica))
      readFrom.inc({ server: 'replica' })
      return result
    } catch (error) {
      if (!isUnreachable(error) && getSqlState(error) !== RECOVERY_CONFLICT) throw error
      this.#pause(error)
      return this.#readPrimary(work)
    }
  }

  #readPrimary<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    readFrom.inc({ server: 'primary' })
    return work(this.#primary)
  }

  async close(timeoutSeconds: number): Promise<void> {
    await this.#replica?.end({ timeout: timeoutSeconds })
  }

  async #isCurrent(): Promise<boolean> {
    const replica = this.#replica as Sql
    const position = await readWalPosition(this.#primary)
    const until = performance.now() + REPLAY_MS_MAX
    let state: ReplicaState
    try {
      do {
        state = await within(REPLAY_MS_MAX * 2, readReplicaState(replica, position))
        if (state === 'lags') await delay(REPLAY_POLL_MS)
      } while (state === 'lags' && performance.now() < until)
    } catch (error) {
      this.#pause(error)
      return false
    }
    if (state === 'current') return true
    this.#pause(state)
    if (state === 'foreign') await writeTimeline(this.#primary, position.timeline)
    return false
  }

  #pause(reason: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS
    this.#log.warn({ reason }, 'The replica cannot be read from at the moment; the primary server is')
  }
}

/** Fails as unreachable when the time is over: a server that hangs does not close connections. */
async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const done = new AbortController()
  const expired = delay(ms, undefined, { signal: done.signal }).then(() => Promise.reject(new ReplicaTimeout()))
  try {
    return await Promise.race([work, expired])
  } finally {
    done.abort()
    expired.catch(() => {})
    work.catch(() => {})
  }
}

class ReplicaTimeout extends Error {
  readonly code = 'ETIMEDOUT'

  constructor() {
    super('The replica did not answer in time')
  }
}

/** How far a primary server has written its log, on the timeline that its last promotion began. */
type WalPosition = { lsn: string; timeline: number }

/**
 * The position behind every transaction that was acknowledged before the call. With
 * `synchronous_commit = off`, such a transaction may not have been written to the disk yet.
 */
async function readWalPosition(primary: Sql): Promise<WalPosition> {
  const [row] = await primary<[{ lsn: string; timeline: string }]>`
    select
      case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end::text as lsn,
      left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline`
  return { lsn: row.lsn, timeline: Number.parseInt(row.timeline, 16) }
}

/** Writes the timeline where a replica can read it, once. */
async function writeTimeline(primary: Sql, timeline: number): Promise<void> {
  await primary`
    insert into replica_marks as mark (timeline)
    values (${timeline})
    on conflict (is_only) do update
    set timeline = excluded.timeline
    where mark.timeline < excluded.timeline`
}

/**
 * How a replica compares with a position: `lags`, or is `foreign`, because it follows another
 * primary server, or none.
 */
type ReplicaState = 'current' | 'lags' | 'foreign'

async function readReplicaState(replica: Sql, { lsn, timeline }: WalPosition): Promise<ReplicaState> {
  const [row] = await replica<[{ is_replica: boolean; has_replayed: boolean; timeline: number | null }]>`
    select pg_is_in_recovery() as is_replica,
      coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) as has_replayed,
      (select timeline from replica_marks) as timeline`
  if (!row.is_replica) return 'foreign'
  if (!row.has_replayed) return 'lags'
  return row.timeline === timeline ? 'current' : 'foreign'
}
