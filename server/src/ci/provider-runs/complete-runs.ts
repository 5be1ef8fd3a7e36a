import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { insertUnscored } from './provider-run.store.ts'
import { completeRunsJob, readRunDetailsJob, readRunFailuresJob } from './provider-runs.job.ts'
import {
  type BranchHistory,
  deleteUnscored,
  findUnreadRuns,
  listRunsBefore,
  listRunsById,
  listRunsFrom,
  lockScores,
  type UnscoredRun,
  upsertScores,
} from './run-history.store.ts'
import { computeRunScores, HISTORY_RUNS, type ScoredRun } from './run-scores.ts'

const RUNS_AT_ONCE = 200
const WINDOW_RUNS = 300

/**
 * Scores the runs of a repository that have changed, from stored facts only, and the later runs
 * that depend on them. Queues the jobs that read more about the runs from the host.
 */
export async function completeRuns({ sql }: Services, repository: RepositoryKey): Promise<void> {
  await sql.begin((tx) => scoreSome(tx, repository))
  const unread = await findUnreadRuns(sql, repository)
  if (unread.scores) await enqueue(sql, completeRunsJob, repository)
  if (unread.details) await enqueue(sql, readRunDetailsJob, repository)
  if (unread.failures) await enqueue(sql, readRunFailuresJob, repository)
}

async function scoreSome(tx: Tx, repository: RepositoryKey): Promise<void> {
  await lockScores(tx, repository)
  const unscored = await deleteUnscored(tx, repository, RUNS_AT_ONCE)
  const alone = unscored.filter(({ history }) => history === null).map(({ run_id }) => run_id)
  const runs = await listRunsById(tx, repository.org_id, alone)
  await writeChanged(
    tx,
    repository.org_id,
    runs,
    runs.flatMap((run) => computeRunScores([], [run])),
  )
  for (const group of Map.groupBy(unscored, ({ history }) => JSON.stringify(history)).values()) {
    const history = (group[0] as UnscoredRun).history
    if (history !== null) await scoreHistory(tx, history, group)
  }
}

/**
 * Scores the runs of a history from the first changed one on, at most `WINDOW_RUNS` of them. What
 * follows the window and depends on it is marked for the next time.
 */
async function scoreHistory(tx: Tx, history: BranchHistory, changed: readonly UnscoredRun[]): Promise<void> {
  const from = Math.min(...changed.map(({ run_number }) => run_number))
  const runs = await listRunsFrom(tx, history, from, WINDOW_RUNS + 1)
  const next = runs.length > WINDOW_RUNS ? (runs.pop() as ScoredRun) : null
  const scored = computeRunScores(await listRunsBefore(tx, history, from), runs)
  await writeChanged(tx, history.org_id, runs, scored)
  if (next === null) return
  const inWindow = new Set(runs.map(({ run_id }) => run_id))
  const beyond = changed.map(({ run_id }) => run_id).filter((id) => !inWindow.has(id))
  const ends = new Set(runs.slice(-HISTORY_RUNS).map(({ run_id }) => run_id))
  const reaches = changed.some(({ run_id }) => ends.has(run_id)) || isChanged(runs.at(-1), scored.at(-1))
  await insertUnscored(tx, history, reaches ? [...beyond, next.run_id] : beyond)
}

/** Writes what has changed. */
async function writeChanged(tx: Tx, orgId: string, before: readonly ScoredRun[], after: readonly ScoredRun[]) {
  const changed = after.filter((run, index) => isChanged(before[index], run))
  if (changed.length > 0) await upsertScores(tx, orgId, changed)
}

function isChanged(before: ScoredRun | undefined, after: ScoredRun | undefined): boolean {
  return JSON.stringify(before?.scores) !== JSON.stringify(after?.scores)
}
