import { Batch } from '../../platform/batch.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Services } from '../../services.ts'
import { upsertRequestCounts } from './request-counts.store.ts'

/** The place of a request among those of its caller in a window of one minute. */
export type Place = { used: number; resetAt: Date }

const CALLERS_MAX = 10_000

/**
 * Counts the requests of each caller per minute, exactly, together with all other processes. The
 * requests that arrive while a statement runs are counted by the next one, so that all of them
 * share its round trip.
 */
export class RequestCounter {
  readonly #batch: Batch<string, Place>
  /** The ends of windows that are used up: their requests need no statement. */
  readonly #usedUp = new Map<string, Date>()
  readonly #clock: Services['clock']

  constructor({ sql, clock }: Pick<Services, 'sql' | 'clock'>) {
    this.#clock = clock
    const count = async (callers: string[]) => {
      const windows = await upsertRequestCounts(sql, countCallers(callers), clock.now())
      return computePlaces(callers, new Map(windows.map((window) => [window.caller, window])))
    }
    this.#batch = new Batch(count, { runningMax: 1, itemsMax: 1000 })
  }

  /** Counts one request, of at most `max` in a minute. */
  async count(caller: string, max: number): Promise<Place> {
    const end = this.#usedUp.get(caller)
    if (end !== undefined && end > this.#clock.now()) return { used: max + 1, resetAt: end }
    const place = await this.#batch.add(caller)
    if (place.used > max) this.#rememberUsedUp(caller, place.resetAt)
    return place
  }

  #rememberUsedUp(caller: string, end: Date): void {
    if (this.#usedUp.size >= CALLERS_MAX) this.#usedUp.clear()
    this.#usedUp.set(caller, end)
  }
}

function countCallers(callers: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const caller of callers) counts.set(caller, (counts.get(caller) ?? 0) + 1)
  return counts
}

/** A window's count is the place of the last of the requests that were added to it. */
function computePlaces(callers: string[], windows: Map<string, { window_started_at: Date; used: number }>): Place[] {
  const left = countCallers(callers)
  return callers.map((caller) => {
    const window = windows.get(caller)
    const later = (left.get(caller) ?? 0) - 1
    left.set(caller, later)
    if (window === undefined) throw new Error(`The requests of ${caller} were not counted.`)
    return { used: window.used - later, resetAt: new Date(window.window_started_at.getTime() + MINUTE_MS) }
  })
}
