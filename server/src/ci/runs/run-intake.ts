import { listCovered, type NamedRepository } from '../../codehosts/connections/connection.store.ts'
import { getUtcDayStart } from '../../platform/clock.ts'
import { Batch } from '../../platform/concurrency.ts'
import { runByOrganization } from '../../platform/db/spread.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { findFreeDayNumbers, type InsertedRun, insertRuns, type NewRun } from './run-row.store.ts'

/** New runs that one credential may create per UTC day (specification, "Limits"). */
export const NEW_RUNS_PER_DAY_MAX = 2000

const CREDENTIALS_KEPT_MAX = 10_000

/**
 * State that all createCiRun requests of a process share, so that many at once cost little more
 * than one.
 */
export type RunIntake = {
  numbers: DayNumbers
  /** Null for a run that was not stored: see `insertRuns`. */
  inserts: Batch<NewRun, InsertedRun | null>
  /** Whether an active connection covers the repository of a token. */
  connections: Batch<NamedRepository, boolean>
}

export function openRunIntake(sql: Sql): RunIntake {
  const inserts = new Batch<NewRun, InsertedRun | null>(async (runs) => {
    const rows = await runByOrganization(runs, (some, orgId) => insertRuns(sql, some, orgId))
    const inserted = new Map(rows.map((run) => [run.id, run]))
    return runs.map((run) => inserted.get(run.id) ?? null)
  })
  const connections = new Batch<NamedRepository, boolean>(async (repositories) => {
    const given = repositories.map((repository, position) => ({ ...repository, position }))
    const connected = new Set(await runByOrganization(given, (some, orgId) => listCovered(sql, some, orgId)))
    return given.map(({ position }) => connected.has(position))
  })
  return { numbers: new DayNumbers(sql), inserts, connections }
}

type Credential = { org_id: string; id: string }

/**
 * Hands out candidates for the day number of a new run. A unique index refuses a number that
 * another process has used in the meantime, and the caller takes the next one. This keeps the limit
 * exact without a row that every insert has to lock (docs/adr/0002-day-numbers.md).
 */
class DayNumbers {
  readonly #sql: Sql
  readonly #candidates = new Map<string, number[]>()
  readonly #reads = new Map<string, Promise<number[]>>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /**
   * A number that was free when it was last read, or null when all 2,000 numbers of the day are
   * used.
   */
  async take(credential: Credential, now: Date): Promise<number | null> {
    const day = getUtcDayStart(now)
    const key = formatKey(credential, day)
    const known = this.#candidates.get(key)?.pop()
    if (known !== undefined) return known
    await this.#refill(key, credential, day)
    return this.#candidates.get(key)?.pop() ?? this.#readOne(credential, day)
  }

  /** Returns a number that no run used. */
  giveBack(credential: Credential, now: Date, number: number): void {
    this.#candidates.get(formatKey(credential, getUtcDayStart(now)))?.push(number)
  }

  /** Drops the candidates: another process used one of them, so it may have used more. */
  forget(credential: Credential, now: Date): void {
    this.#candidates.delete(formatKey(credential, getUtcDayStart(now)))
  }

  /** Concurrent callers for the same credential share one read. */
  async #refill(key: string, credential: Credential, day: Date): Promise<void> {
    let read = this.#reads.get(key)
    if (!read) {
      read = this.#read(credential, day).finally(() => this.#reads.delete(key))
      this.#reads.set(key, read)
      read.then(
        (numbers) => this.#keep(key, numbers),
        () => {},
      )
    }
    await read
  }

  /**
   * For callers that got nothing because others in this process took every number of the shared
   * read.
   */
  async #readOne(credential: Credential, day: Date): Promise<number | null> {
    return (await this.#read(credential, day)).pop() ?? null
  }

  #read(credential: Credential, day: Date): Promise<number[]> {
    return findFreeDayNumbers(this.#sql, credential, day, NEW_RUNS_PER_DAY_MAX)
  }

  #keep(key: string, numbers: number[]): void {
    if (this.#candidates.size >= CREDENTIALS_KEPT_MAX) this.#candidates.clear()
    this.#candidates.set(key, numbers)
  }
}

function formatKey({ id }: Credential, day: Date): string {
  return `${id} ${day.getTime()}`
}
