import { isFinal, type RunStatus } from '../runs/run-status.ts'

/** A run of a workflow on a branch, with what its scores depend on. */
export type ScoredRun = HistoryRun & {
  run_id: string
  /** Null unless the newest attempt failed and its failure has been read. */
  failure_category: string | null
  on_tracked_branch: boolean
  /** True if a job of its workflow deploys to an environment. */
  deploys: boolean
  /** The stored scores. */
  scores: RunScores | null
}

type RunScores = {
  failure_recurrence: number | null
  anomaly_reasons: AnomalyReason[]
  importance_score: number
}

/** The number of runs that a run is compared with. */
export const HISTORY_RUNS = 50

/**
 * Computes the scores of consecutive runs of a workflow and branch, in the order of their numbers.
 * `history` holds the completed runs before them. The scores of open runs are null.
 */
export function computeRunScores(history: readonly ScoredRun[], runs: readonly ScoredRun[]): ScoredRun[] {
  const before = [...history]
  return runs.map((run) => {
    const scores = isFinal(run.status) ? computeScores(run, before.slice(-HISTORY_RUNS)) : null
    const scored = { ...run, scores }
    // Open runs have no result yet, and skipped ones did nothing.
    if (isFinal(run.status) && run.status !== 'skipped') before.push(scored)
    return scored
  })
}

function computeScores(run: ScoredRun, history: readonly ScoredRun[]): RunScores {
  const reasons = computeAnomalyReasons(run, history)
  return {
    failure_recurrence: failureRecurrence(run, history.at(-1)),
    anomaly_reasons: reasons,
    importance_score: importanceScore(run, reasons.length),
  }
}

/**
 * The number of failures in a row with the category of this one, this run included. The stored
 * recurrence of the previous run counts those before it.
 */
function failureRecurrence({ failure_category }: ScoredRun, previous: ScoredRun | undefined): number | null {
  if (failure_category === null) return null
  return previous?.failure_category === failure_category ? (previous.scores?.failure_recurrence ?? 0) + 1 : 1
}

/** From 0 to 1 (docs/runs.md). It is added up in hundredths, which are exact. */
function importanceScore({ on_tracked_branch, deploys, status }: ScoredRun, anomalies: number): number {
  const failed = status === 'failure' || status === 'timed_out'
  return ((on_tracked_branch ? 30 : 0) + (deploys ? 20 : 0) + (failed ? 30 : 0) + 5 * anomalies) / 100
}

/** What the rules below need of a run. */
type HistoryRun = {
  status: RunStatus
  created_at: Date
  /** From the start to the end of the newest attempt; null while it is open. */
  duration_seconds: number | null
  actor: string | null
}

const ANOMALY_REASONS = ['slower_than_usual', 'first_failure_after_success', 'new_actor', 'unusual_hour'] as const
type AnomalyReason = (typeof ANOMALY_REASONS)[number]

const DURATIONS_MIN = 5
const USUAL_PERCENTILE = 0.95
const STARTS_MIN = 10
const USUAL_HOURS = 2

/**
 * Why a completed run is unusual, compared with its history: the runs before it of its workflow and
 * branch, oldest first, that were completed and not skipped (docs/runs.md).
 */
function computeAnomalyReasons(run: HistoryRun, history: readonly HistoryRun[]): AnomalyReason[] {
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
