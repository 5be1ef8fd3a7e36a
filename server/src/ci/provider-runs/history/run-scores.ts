import { isFinal } from '../../runs/run-status.ts'
import { type AnomalyReason, computeAnomalyReasons, type HistoryRun } from './anomaly-reasons.ts'

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
    if (countsAsHistory(run)) before.push(scored)
    return scored
  })
}

/** Open runs have no result yet, and skipped ones did nothing. */
function countsAsHistory({ status }: ScoredRun): boolean {
  return isFinal(status) && status !== 'skipped'
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
