import type { Db } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { REPOSITORY_KEY, type RepositoryKey, repositoryKeyText } from '../../repositories/repository-key.ts'
import { markUnscored } from './provider-run.store.ts'

/** An import queues much of this work; it must not hold up the import or what people wait for. */
const AFTER_IMPORT = 10

/** Computes the scores of runs, and queues the two jobs below if they have work. */
export const completeRunsJob = {
  name: 'ci.complete-runs',
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk' as const,
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
}

/** Reads what events do not contain from the host. Its ten tries last about four hours. */
export const readRunDetailsJob = {
  name: 'ci.read-run-details',
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk' as const,
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
}

/** Reads why runs failed from the host. */
export const readRunFailuresJob = {
  name: 'ci.read-run-failures',
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk' as const,
  priority: AFTER_IMPORT,
  once: repositoryKeyText,
}

/**
 * Queues the completion of a run, in the transaction that changes it. This is the only job that
 * handlers queue, so that transactions over several runs lock the jobs of a repository in one
 * order.
 */
export async function requestCompletion(db: Db, repository: RepositoryKey, runId: string): Promise<void> {
  await Promise.all([markUnscored(db, repository, [runId]), enqueue(db, completeRunsJob, repository)])
}
