import { listOrganizationsWithPolicies } from '../../compliance/policies/policy.store.ts'
import { findUploadSubject } from '../../security/policy-facts/policy-repository.store.ts'
import type { Services } from '../../services.ts'
import { decideByPolicy } from './decide-by-policy.ts'
import { listWaiting, type WaitingFilter } from './evaluation.store.ts'

/**
 * Evaluates the waiting deployments of a run again, after one of its jobs reported or the run
 * ended. Safe to repeat.
 */
export async function refreshRunGates(services: Services, { org_id, run_id }: { org_id: string; run_id: string }) {
  await reconsider(services, org_id, { run_id })
}

/** Evaluates the waiting deployments of a repository again, after a security report was read. */
export async function refreshUploadGates(services: Services, upload: { org_id: string; upload_id: string }) {
  const subject = await findUploadSubject(services.sql, upload.org_id, upload.upload_id)
  if (subject) await reconsider(services, upload.org_id, { repository: subject.name })
}

/**
 * Evaluates the waiting deployments of a repository again, after its alerts changed or findings
 * were triaged.
 */
export async function refreshRepositoryGates(services: Services, changed: { org_id: string; repository: string }) {
  await reconsider(services, changed.org_id, { repository: changed.repository })
}

/** Evaluates all waiting deployments of an organization again, after a policy changed. */
export async function refreshOrganizationGates(services: Services, { org_id }: { org_id: string }) {
  await reconsider(services, org_id, {})
}

/**
 * Evaluates the waiting deployments of all organizations with policies again, after vulnerability
 * data changed.
 */
export async function refreshAllGates(services: Services): Promise<void> {
  for (const org_id of await listOrganizationsWithPolicies(services.sql)) await reconsider(services, org_id, {})
}

async function reconsider(services: Services, orgId: string, filter: WaitingFilter): Promise<void> {
  for (const deployment of await listWaiting(services.sql, orgId, filter)) await decideByPolicy(services, deployment)
}
