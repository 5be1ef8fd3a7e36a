import { type DryRunSubject, EXAMINED_MAX } from '../../compliance/dry-run-policy.ts'
import { readDeploymentInput } from '../../compliance/evaluate-deployment.ts'
import type { TrialFilter } from '../../compliance/find-runs-to-try.ts'
import type { PolicyDefinition } from '../../compliance/policies/policy.schema.ts'
import { isDeploymentCovered } from '../../compliance/policies/policy-binding.ts'
import type { Services } from '../../services.ts'
import { listRecentDeployments, type RecentDeployment } from '../deployment-state.store.ts'
import { getRepositoryAddress } from '../deployment-state.ts'
import { findSubject } from './evaluate-policies.ts'

/** A deployment as a dry run shows it. */
export type TriedDeployment = Pick<
  RecentDeployment,
  'id' | 'environment' | 'branch' | 'commit_sha' | 'status' | 'created_at'
> & { repository: string }

/**
 * The last deployments that a policy covers. A policy without bindings is tried on every
 * deployment, because any gate can name it.
 */
export async function findDeploymentsToTry(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  definition: PolicyDefinition,
  { last, ...filter }: TrialFilter,
): Promise<DryRunSubject<{ deployment: TriedDeployment }>[]> {
  const found: DryRunSubject<{ deployment: TriedDeployment }>[] = []
  for (const state of await listRecentDeployments(sql, orgId, { ...filter, limit: EXAMINED_MAX })) {
    if (found.length === last) break
    const subject = await findSubject(sql, state, clock.now())
    if (definition.bindings !== null && !isDeploymentCovered(definition, subject)) continue
    const readInput = () => readDeploymentInput(sql, subject, clock.now())
    found.push({ shown: { deployment: toTried(state) }, readInput })
  }
  return found
}

function toTried(state: RecentDeployment): TriedDeployment {
  const { id, environment, branch, commit_sha, status, created_at } = state
  return { id, environment, repository: getRepositoryAddress(state), branch, commit_sha, status, created_at }
}
