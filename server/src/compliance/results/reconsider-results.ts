import { findRunRepository, listRunRepositories } from '../../ci/evidence/newest-runs.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import { listRepositories } from '../../repositories/repository.store.ts'
import { findUploadSubject, listReportedNames } from '../../security/policy-facts/policy-repository.store.ts'
import type { Services } from '../../services.ts'
import { hasPolicies, listOrganizationsWithPolicies } from '../policies/policy.store.ts'
import { evaluateRepositoryJob } from './evaluate-repository.job.ts'
import { isNamed, mergeRepositoryNames } from './known-repositories.ts'

const REPOSITORIES_MAX = 10_000

/** Evaluates every repository once a day, because evidence expires without any event. */
export const evaluateDaily = defineScheduledJob<Services>('compliance.evaluate-daily', {
  schedule: '30 3 * * *',
  run: (services) => refreshAllResults(services),
})

/** After a run ended or one of its jobs sent a report: evaluates the run's repository. */
export async function refreshRunResults({ sql }: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  if (!(await hasPolicies(sql, org_id))) return
  const repository = await findRunRepository(sql, org_id, run_id)
  if (repository !== null) await enqueue(sql, evaluateRepositoryJob, { org_id, repository })
}

/** After a security report was read: evaluates every repository of the report's name. */
export async function refreshUploadResults({ sql }: Services, upload: { org_id: string; upload_id: string }) {
  const { org_id, upload_id } = upload
  if (!(await hasPolicies(sql, org_id))) return
  const subject = await findUploadSubject(sql, org_id, upload_id)
  if (subject === null) return
  await enqueueAll(sql, org_id, (repository) => isNamed(repository, subject.name))
}

/** After the gates of a deployment were bypassed: evaluates its repository. */
export async function refreshRepositoryResults(
  { sql }: Services,
  { org_id, repository }: { org_id: string; repository: string },
) {
  if (await hasPolicies(sql, org_id)) await enqueue(sql, evaluateRepositoryJob, { org_id, repository })
}

/** After alerts changed or findings were triaged: evaluates every repository of this name. */
export async function refreshNamedResults({ sql }: Services, changed: { org_id: string; repository: string }) {
  if (!(await hasPolicies(sql, changed.org_id))) return
  await enqueueAll(sql, changed.org_id, (repository) => isNamed(repository, changed.repository))
}

/** After a policy was applied: evaluates every repository of its organization. */
export async function refreshOrganizationResults({ sql }: Services, { org_id }: { org_id: string }): Promise<void> {
  await enqueueAll(sql, org_id, () => true)
}

/** After vulnerability intelligence was imported, and once a day: evaluates every repository. */
export async function refreshAllResults({ sql }: Services): Promise<void> {
  for (const orgId of await listOrganizationsWithPolicies(sql)) await enqueueAll(sql, orgId, () => true)
}

async function enqueueAll(db: Db, org_id: string, isAffected: (repository: string) => boolean): Promise<void> {
  const [runs, linked, reported] = await Promise.all([
    listRunRepositories(db, org_id, REPOSITORIES_MAX),
    listRepositories(db, org_id),
    listReportedNames(db, org_id, REPOSITORIES_MAX),
  ])
  const present = linked.filter(({ deleted_at }) => deleted_at === null)
  const repositories = mergeRepositoryNames({ runs, linked: present, reported }).filter(isAffected)
  await Promise.all(repositories.map((repository) => enqueue(db, evaluateRepositoryJob, { org_id, repository })))
}
