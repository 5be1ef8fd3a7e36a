import { utcDayStart } from '../../platform/clock.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { findFreeDayNumbers } from './day-number.store.ts'

/** New runs that one credential may report per UTC day (specification, "Limits"). */
export const NEW_RUNS_PER_DAY_MAX = 2000

const CREDENTIALS_KEPT_MAX = 10_000

type Credential = { orgId: string; id: string }

/**
 * Hands out candidates for a run's day number. The database decides: its unique index refuses a number that another
 * process took meanwhile, and the caller asks for the next. So the limit is exact, and no row is a queue for all.
 */
export class DayNumbers {
  readonly #sql: Sql
  readonly #candidates = new Map<string, number[]>()
  readonly #reads = new Map<string, Promise<number[]>>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** A number that was free a moment ago, or null when the day's 2,000 are all taken. */
  async take(credential: Credential, now: Date): Promise<number | null> {
    const day = utcDayStart(now)
    const key = `${credential.id} ${day.getTime()}`
    const known = this.#candidates.get(key)?.pop()
    if (known !== undefined) return known
    await this.#refill(key, credential, day)
    return this.#candidates.get(key)?.pop() ?? this.#readOne(credential, day)
  }

  /** Puts back a number that no run took. */
  giveBack(credential: Credential, now: Date, number: number): void {
    this.#candidates.get(`${credential.id} ${utcDayStart(now).getTime()}`)?.push(number)
  }

  /** Another process took a number that was kept here, so the others may be gone too. */
  forget(credential: Credential, now: Date): void {
    this.#candidates.delete(`${credential.id} ${utcDayStart(now).getTime()}`)
  }

  /** One read for all that wait for the same credential. */
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

  /** Others in this process took all that was read: near the limit each looks for itself. */
  async #readOne(credential: Credential, day: Date): Promise<number | null> {
    return (await this.#read(credential, day)).pop() ?? null
  }

  #read(credential: Credential, day: Date): Promise<number[]> {
    return findFreeDayNumbers(this.#sql, credential.orgId, credential.id, day, NEW_RUNS_PER_DAY_MAX)
  }

  #keep(key: string, numbers: number[]): void {
    if (this.#candidates.size >= CREDENTIALS_KEPT_MAX) this.#candidates.clear()
    this.#candidates.set(key, numbers)
  }
}
