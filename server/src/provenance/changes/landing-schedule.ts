import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'

/** A record is written this long after landing at the latest (provenance.md §1). */
export const DEADLINE_MS = 60 * MINUTE_MS

/** Events of one landing arrive together. A push waits for the events of its pull requests. */
export const SETTLE_MS = 3000

/** When no check of the commit is known after this time, the host is asked for them. */
const ASK_AFTER_MS = 30_000

/** Rules of a branch that are read later than this may not be those that applied. */
const RULES_LAST_MS = DAY_MS

type Times = { landed_at: Date; noted_at: Date }

/** What is known of the checks and runs of a commit. */
export type CommitState = 'unknown' | 'open' | 'finished'

type NextStep = { step: 'record' | 'ask' } | { step: 'wait'; until: Date }

/** The latest time for the record of a landing. */
export function computeDeadline({ landed_at }: Pick<Times, 'landed_at'>): Date {
  return after(landed_at, DEADLINE_MS)
}

/** When a new landing is looked at for the first time. */
export function computeFirstDue({ noted_at }: Pick<Times, 'noted_at'>): Date {
  return after(noted_at, SETTLE_MS)
}

/** Whether a landing was noted after the deadline of its record, as in an import. */
export function isLate({ landed_at, noted_at }: Times): boolean {
  return noted_at > computeDeadline({ landed_at })
}

/** Whether the present rules of the branch can be taken for those that applied to the landing. */
export function hasPresentRules({ landed_at }: Pick<Times, 'landed_at'>, now: Date): boolean {
  return now <= after(landed_at, RULES_LAST_MS)
}

/**
 * What is due for a landing: to write its record, to ask the host for the checks of the commit, or
 * to wait for checks and runs that are not known or not finished.
 */
export function decideNextStep(landing: Times & { asked_at: Date | null }, state: CommitState, now: Date): NextStep {
  const first = computeFirstDue(landing)
  const deadline = computeDeadline(landing)
  if (now < first) return { step: 'wait', until: first }
  if (state === 'finished') return { step: 'record' }
  if (state === 'unknown' && landing.asked_at === null) {
    const ask = after(landing.landed_at, ASK_AFTER_MS)
    return now < ask ? { step: 'wait', until: ask } : { step: 'ask' }
  }
  return state === 'unknown' || now >= deadline ? { step: 'record' } : { step: 'wait', until: deadline }
}

/** How often the host of an old landing is asked, before its record is written without it. */
const OLD_TRIES_MAX = 10
/** How often a host is asked that answers other requests. */
const FAILED_READS_MAX = 2
const FAILED_READS_PAUSE_MS = 3000
const PAUSE_MS_MAX = 15 * MINUTE_MS

type Failure = {
  /** Whether the host answers no request at all. */
  is_down: boolean
  /** When the host accepts requests again; null if it does not say. */
  retry_at: Date | null
}

/**
 * When the host is asked again after it did not answer. Null: the record is written with what is
 * known.
 */
export function computeNextTry(
  landing: Times & { late: boolean; tries: number },
  failure: Failure,
  now: Date,
): Date | null {
  const { late, tries } = landing
  const deadline = computeDeadline(landing)
  if (!failure.is_down) return tries + 1 < FAILED_READS_MAX ? after(now, FAILED_READS_PAUSE_MS) : null
  if (late ? tries + 1 >= OLD_TRIES_MAX : now >= deadline) return null
  const pause = after(now, Math.min(15_000 * 2 ** tries, PAUSE_MS_MAX))
  const wanted = failure.retry_at !== null && failure.retry_at > pause ? failure.retry_at : pause
  return late || wanted < deadline ? wanted : deadline
}

/** The pause after the first try, in milliseconds. It doubles with each try, up to `most`. */
type Pauses = { first: number; most: number }

/** A landing whose commit the host does not know yet. */
export const WITHOUT_COMMIT: Pauses = { first: 5 * MINUTE_MS, most: DAY_MS }
/** A landing whose record could not be written. */
export const AFTER_ERROR: Pauses = { first: MINUTE_MS, most: 60 * MINUTE_MS }

const COUNTED_TRIES_MAX = 20

/** When a landing is tried again, as often as needed. */
export function computeLaterTry({ tries }: { tries: number }, { first, most }: Pauses, now: Date) {
  return { tries: Math.min(tries + 1, COUNTED_TRIES_MAX), due_at: after(now, Math.min(first * 2 ** tries, most)) }
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms)
}
