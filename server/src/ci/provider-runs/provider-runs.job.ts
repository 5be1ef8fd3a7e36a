import type { Db } from '../../platform/db/sql.ts'
import { lazy } from '../../platform/lazy.ts'
import { enqueue, job } from '../../platform/queue/job.ts'
import { update } from '../../platform/updates/update.ts'
import { REPOSITORY_KEY, type RepositoryKey, repositoryKeyText } from '../../repositories/repository-key.ts'
import { markUnscored } from './provider-run.store.ts'

/** An import queues much of this work; it must not hold up the import or what people wait for. */
const AFTER_IMPORT = 10

/** Computes the scores of runs, and queues the two jobs below if they have work. */
export const completeRunsJob = job('ci.complete-runs', {
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
  run: lazy(async () => (await import('./history/complete-runs.ts')).completeRuns),
  updates: () => [update('run')],
})

/** Reads what events do not contain from the host. Its ten tries last about four hours. */
export const readRunDetailsJob = job('ci.read-run-details', {
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
  run: lazy(async () => (await import('./details/read-run-details.ts')).readRunDetails),
  updates: () => [update('run')],
})

/** Reads why runs failed from the host. */
export const readRunFailuresJob = job('ci.read-run-failures', {
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
  run: lazy(async () => (await import('./failure/read-run-failures.ts')).readRunFailures),
  updates: () => [update('run')],
})

/**
 * Queues the completion of a run, in the transaction that changes it. This is the only job that
 * handlers queue, so that transactions over several runs lock the jobs of a repository in one
 * order.
 */
export async function requestCompletion(db: Db, repository: RepositoryKey, runId: string): Promise<void> {
  await Promise.all([markUnscored(db, repository, [runId]), enqueue(db, completeRunsJob, repository)])
}
