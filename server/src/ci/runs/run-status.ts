/** Every status of a run and of its attempts (specification, "CI run / attempt status"). */
export const RUN_STATUSES = [
  'queued',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'timed_out',
  'skipped',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export function isFinal(status: RunStatus): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

/** True for a final status other than `success`: nothing may be deployed from such an attempt. */
export function hasEndedBadly(status: RunStatus): boolean {
  return isFinal(status) && status !== 'success'
}

type AttemptEnd = { status: RunStatus; started_at: Date; completed_at: Date | null; deadline_at: Date | null }

/**
 * True for an end that somebody has stated. A deadline that has passed says nothing (trust §1): it
 * ends the attempt at the deadline, or at its start if that is later; as `timed_out`, or with the
 * status of the attempt that it continued.
 */
export function isStatedToEnd({ status, started_at, completed_at, deadline_at }: AttemptEnd): boolean {
  if (!isFinal(status)) return false
  if (deadline_at === null) return true
  return completed_at?.getTime() !== Math.max(deadline_at.getTime(), started_at.getTime())
}
