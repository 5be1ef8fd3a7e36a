import { findRunRepository, listRunRepositories } from '../ci/evidence/newest-runs.store.ts'
import type { Db } from '../platform/db/sql.ts'
import { enqueue } from '../platform/queue/enqueue.ts'
import { listRepositories } from '../repositories/repository.store.ts'
import { findUploadSubject, listReportedNames } from '../security/policy-facts/policy-repository.store.ts'
import type { Services } from '../services.ts'
import { evaluateRepositoryJob } from './evaluate-repository.job.ts'
import { isNamed, knownRepositories } from './known-repositories.ts'
import { hasPolicies, listOrganizationsWithPolicies } from './policy.store.ts'

const REPOSITORIES_MAX = 10_000

/** A run's jobs said something new, or it ended: its repository is judged again. */
export async function reconsiderRun({ sql }: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  if (!(await hasPolicies(sql, org_id))) return
  const repository = await findRunRepository(sql, org_id, run_id)
  if (repository !== null) await enqueue(sql, evaluateRepositoryJob, { org_id, repository })
}

/** A security report was read: the repository that it is about is judged again. */
export async function reconsiderUpload({ sql }: Services, upload: { org_id: string; upload_id: string }) {
  const { org_id, upload_id } = upload
  if (!(await hasPolicies(sql, org_id))) return
  const subject = await findUploadSubject(sql, org_id, upload_id)
  if (subject === null) return
  await enqueueAll(sql, org_id, (repository) => isNamed(repository, subject.name))
}

/** A policy changed: every repository of its organization is judged again. */
export async function reconsiderOrganization({ sql }: Services, { org_id }: { org_id: string }): Promise<void> {
  await enqueueAll(sql, org_id, () => true)
}

/** What is known of vulnerabilities changed, or a day has passed and evidence grew old. */
export async function reconsiderAll({ sql }: Services): Promise<void> {
  for (const orgId of await listOrganizationsWithPolicies(sql)) await enqueueAll(sql, orgId, () => true)
}

async function enqueueAll(db: Db, org_id: string, isMeant: (repository: string) => boolean): Promise<void> {
  const [runs, linked, reported] = await Promise.all([
    listRunRepositories(db, org_id, REPOSITORIES_MAX),
    listRepositories(db, org_id),
    listReportedNames(db, org_id, REPOSITORIES_MAX),
  ])
  const repositories = knownRepositories({ runs, linked, reported }).filter(isMeant)
  await Promise.all(repositories.map((repository) => enqueue(db, evaluateRepositoryJob, { org_id, repository })))
}
