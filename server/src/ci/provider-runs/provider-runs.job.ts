import type { Db } from '../../platform/db/sql.ts'
import { lazy } from '../../platform/lazy.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { update } from '../../platform/queue/update.ts'
import { formatRepositoryKey, REPOSITORY_KEY, type RepositoryKey } from '../../repositories/repository-identity.ts'
import { insertUnscored } from './provider-run.store.ts'

/** An import queues much of this work; it must not hold up the import or what people wait for. */
const AFTER_IMPORT = 10

/** Computes the scores of runs, and queues the two jobs below if they have work. */
export const completeRunsJob = defineJob('ci.complete-runs', {
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: formatRepositoryKey,
  run: lazy(async () => (await import('./complete-runs.ts')).completeRuns),
  updates: () => [update('run')],
})

/** Reads what events do not contain from the host. Its ten tries last about four hours. */
export const readRunDetailsJob = defineJob('ci.read-run-details', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: formatRepositoryKey,
  run: lazy(async () => (await import('./read-run-details.ts')).readRunDetails),
  updates: () => [update('run')],
})

/** Reads why runs failed from the host. */
export const readRunFailuresJob = defineJob('ci.read-run-failures', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  class: 'bulk',
  priority: AFTER_IMPORT,
  once: formatRepositoryKey,
  run: lazy(async () => (await import('./read-run-failures.ts')).readRunFailures),
  updates: () => [update('run')],
})

/**
 * Queues the completion of a run, in the transaction that changes it. This is the only job that
 * handlers queue, so that transactions over several runs lock the jobs of a repository in one
 * order.
 */
export async function enqueueCompletion(db: Db, repository: RepositoryKey, runId: string): Promise<void> {
  await Promise.all([insertUnscored(db, repository, [runId]), enqueue(db, completeRunsJob, repository)])
}
