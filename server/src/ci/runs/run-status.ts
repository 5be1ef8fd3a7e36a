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
