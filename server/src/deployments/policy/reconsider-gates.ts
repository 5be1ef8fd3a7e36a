import { listOrganizationsWithPolicies } from '../../compliance/policy.store.ts'
import { findUploadSubject } from '../../security/policy-facts/policy-repository.store.ts'
import type { Services } from '../../services.ts'
import { decideByPolicy } from './decide-by-policy.ts'
import { findWaiting, type WaitingOf } from './evaluation.store.ts'

/** A run's jobs said something new, or it ended: what policies hold back of it they may let out now. May be told twice. */
export async function reconsiderGates(services: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  await reconsider(services, org_id, { run_id })
}

/** A security report was read: what waits of its run or repository is judged again. */
export async function reconsiderGatesOfUpload(services: Services, upload: { org_id: string; upload_id: string }) {
  const subject = await findUploadSubject(services.sql, upload.org_id, upload.upload_id)
  if (subject) await reconsider(services, upload.org_id, { repository: subject.name })
}

/** A policy changed: all that waits is judged again. */
export async function reconsiderGatesOfOrganization(services: Services, { org_id }: { org_id: string }) {
  await reconsider(services, org_id, {})
}

/** What is known of vulnerabilities changed: all that waits of any organization with policies is judged again. */
export async function reconsiderAllGates(services: Services): Promise<void> {
  for (const org_id of await listOrganizationsWithPolicies(services.sql)) await reconsider(services, org_id, {})
}

async function reconsider(services: Services, orgId: string, which: WaitingOf): Promise<void> {
  for (const id of await findWaiting(services.sql, orgId, which)) await decideByPolicy(services, orgId, id)
}
