/** The time limit of a request, and the unit of the waits between its tries. */
export type Pace = {
  timeLimitMs: number
  waitUnitMs: number
  /** Whether a request is sent once only, and no limit is waited for. */
  once?: boolean
}

export const PACE: Pace = { timeLimitMs: 30_000, waitUnitMs: 1000 }

/** The pace of callers that try again themselves. Tests give another `pace`. */
export function impatient({ timeLimitMs, waitUnitMs }: Pace): Pace {
  return { timeLimitMs: Math.min(timeLimitMs, 5000), waitUnitMs, once: true }
}
