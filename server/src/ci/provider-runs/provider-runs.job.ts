import { normalizeAddress } from '../../codehosts/catalogue.ts'
import { listOrganizations } from '../../organizations/organization.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { lazy } from '../../platform/lazy.ts'
import { publish } from '../../platform/queue/event.ts'
import { defineJob, defineScheduledJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { update } from '../../platform/queue/update.ts'
import { repositoryRenamed } from '../../repositories/repository.events.ts'
import { findOnHost } from '../../repositories/repository.store.ts'
import {
  formatRepositoryKey,
  REPOSITORY_KEY,
  type RepositoryKey,
  splitAddress,
} from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listRunRepositories } from '../evidence/newest-runs.store.ts'
import { addressChanged } from '../runs/run.events.ts'
import { updateRunAddresses } from '../runs/run-row.store.ts'
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

const REPOSITORIES_MAX = 10_000

/**
 * Gives stored runs the one address of their repository (ci-evidence §1), so that gates find their
 * evidence. Runs when a worker starts, and every hour: after an upgrade, programs of the version
 * before may store former addresses for a while.
 */
export const normalizeAddresses = defineScheduledJob<Services>('ci.normalize-addresses', {
  class: 'bulk',
  schedule: '7 * * * *',
  startsWithWorker: true,
  async run({ sql }): Promise<void> {
    for (const { id: org_id } of await listOrganizations(sql))
      for (const from of await listRunRepositories(sql, org_id, REPOSITORIES_MAX)) {
        const to = normalizeAddress(from)
        if (to === from) continue
        while ((await updateRunAddresses(sql, { org_id, from, to })) > 0);
        const { host, name } = splitAddress(to)
        await sql.begin(async (tx) => {
          await publish(tx, addressChanged, { org_id, from, to })
          const linked = await findOnHost(tx, org_id, host, name)
          if (linked)
            await publish(tx, repositoryRenamed, { org_id, provider: linked.provider, repository_id: linked.id })
        })
      }
  },
})
