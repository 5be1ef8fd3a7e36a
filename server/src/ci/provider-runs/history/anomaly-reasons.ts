import type { RunStatus } from '../../runs/run-status.ts'

/** What the rules below need of a run. */
export type HistoryRun = {
  status: RunStatus
  created_at: Date
  /** From the start to the end of the newest attempt; null while it is open. */
  duration_seconds: number | null
  actor: string | null
}

const ANOMALY_REASONS = ['slower_than_usual', 'first_failure_after_success', 'new_actor', 'unusual_hour'] as const
export type AnomalyReason = (typeof ANOMALY_REASONS)[number]

const DURATIONS_MIN = 5
const USUAL_PERCENTILE = 0.95
const STARTS_MIN = 10
const USUAL_HOURS = 2

/**
 * Why a completed run is unusual, compared with its history: the runs before it of its workflow and
 * branch, oldest first, that were completed and not skipped (docs/runs.md).
 */
export function computeAnomalyReasons(run: HistoryRun, history: readonly HistoryRun[]): AnomalyReason[] {
  const rules: Record<AnomalyReason, (run: HistoryRun, history: readonly HistoryRun[]) => boolean> = {
    slower_than_usual: isSlower,
    first_failure_after_success: isFirstFailure,
    new_actor: hasNewActor,
    unusual_hour: startedAtUnusualHour,
  }
  return run.status === 'skipped' ? [] : ANOMALY_REASONS.filter((reason) => rules[reason](run, history))
}

/** Slower than the 95th percentile (nearest rank) of the runs that succeeded. */
function isSlower({ duration_seconds }: HistoryRun, history: readonly HistoryRun[]): boolean {
  const durations = history
    .filter(({ status }) => status === 'success')
    .map((run) => run.duration_seconds ?? 0)
    .sort((a, b) => a - b)
  if (durations.length < DURATIONS_MIN) return false
  const usual = durations[Math.ceil(durations.length * USUAL_PERCENTILE) - 1] as number
  return (duration_seconds ?? 0) > usual
}

/** Cancelled runs say nothing about the code, so they are left out. */
function isFirstFailure({ status }: HistoryRun, history: readonly HistoryRun[]): boolean {
  const previous = history.findLast((run) => run.status !== 'cancelled')
  return (status === 'failure' || status === 'timed_out') && previous?.status === 'success'
}

function hasNewActor({ actor }: HistoryRun, history: readonly HistoryRun[]): boolean {
  return actor !== null && history.length > 0 && history.every((run) => run.actor !== actor)
}

/** No run of the history was created within two hours of this hour of the day (UTC). */
function startedAtUnusualHour({ created_at }: HistoryRun, history: readonly HistoryRun[]): boolean {
  if (history.length < STARTS_MIN) return false
  return history.every((run) => hoursBetween(run.created_at.getUTCHours(), created_at.getUTCHours()) > USUAL_HOURS)
}

/** The distance of two hours on the clock: 23 and 1 are two hours apart. */
function hoursBetween(a: number, b: number): number {
  const distance = Math.abs(a - b)
  return Math.min(distance, 24 - distance)
}
