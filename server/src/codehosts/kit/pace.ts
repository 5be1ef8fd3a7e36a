import { setTimeout as delay } from 'node:timers/promises'

/** The time limit of a request, and the unit of the waits between its tries. */
export type Pace = {
  timeLimitMs: number
  waitUnitMs: number
  /** Whether a request is sent once only, and no limit is waited for. */
  once?: boolean
}

export const PACE: Pace = { timeLimitMs: 30_000, waitUnitMs: 1000 }

/** The pace of callers that try again themselves. Tests give another `pace`. */
export function toImpatientPace({ timeLimitMs, waitUnitMs }: Pace): Pace {
  return { timeLimitMs: Math.min(timeLimitMs, 5000), waitUnitMs, once: true }
}

/** Starts what takes a place at least this far apart, in the order of the calls. */
export class Spacing {
  readonly #apartMs: number
  #nextAt = 0

  constructor(apartMs: number) {
    this.#apartMs = apartMs
  }

  async take(): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#nextAt)
    this.#nextAt = at + this.#apartMs
    if (at > now) await delay(at - now)
  }
}
