import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'

const HOUR_MS = 60 * MINUTE_MS
const SECOND_MS = 1000
const PAUSES_MS = [5 * SECOND_MS, 15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS]
const PAUSE_MS_MAX = 2 * HOUR_MS

/**
 * When a call is tried again after its try number `attempts` failed. Null 24 hours after it was
 * requested; the last try is made at that time.
 */
export function computeNextTry(
  { attempts, created_at }: { attempts: number; created_at: Date },
  now: Date,
): Date | null {
  const lastMs = created_at.getTime() + DAY_MS
  if (now.getTime() >= lastMs) return null
  const pauseMs = PAUSES_MS[attempts - 1] ?? PAUSE_MS_MAX
  return new Date(Math.min(now.getTime() + pauseMs, lastMs))
}

/**
 * Whether later calls of the same subject wait for a call that failed. They do so for an hour, so
 * that a call that the host never accepts does not delay the others for a day.
 */
export function isHoldingBack({ created_at }: { created_at: Date }, now: Date): boolean {
  return now.getTime() < created_at.getTime() + HOUR_MS
}
