import { isDeepStrictEqual } from 'node:util'
import { isDeploymentCovered } from '../../compliance/policies/policy-binding.ts'
import { listPolicyChanges, type PolicyChange } from '../../compliance/policies/policy-version.store.ts'
import { findTrustLoosener } from '../../organizations/organization.store.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { isTargetCovered } from '../asked-gate.ts'
import { findSubject } from '../decisions/evaluate-policies.ts'
import type { DeploymentState, RequiredGate } from '../deployment-state.ts'
import type { GateVersion } from '../gates/configured-gate.schema.ts'
import { listGateChanges } from '../gates/configured-gate.store.ts'

/** Who moved the goalposts of a deployment, after it was opened or within a day before. */
export type Looseners = {
  /**
   * Users who changed a policy that is asked or the default trust, or loosened a gate that lets
   * openers in.
   */
  loosener_ids: string[]
  /** Users who loosened a gate that did not let openers in. */
  strict_loosener_ids: string[]
}

/**
 * Lists who loosened a gate that covers the deployment, before or after the change, changed a
 * policy that is asked (decisions §9), or let more evidence in for all policies.
 */
export async function listLooseners(
  db: Db,
  state: DeploymentState,
  required: RequiredGate[],
  now: Date,
): Promise<Looseners> {
  const since = new Date(state.created_at.getTime() - DAY_MS)
  const [gates, policies, truster, subject] = await Promise.all([
    listGateChanges(db, state.org_id, since),
    listPolicyChanges(db, state.org_id, since),
    findTrustLoosener(db, state.org_id, since),
    findSubject(db, state, now),
  ])
  const covers = (gate: GateVersion) => isTargetCovered(gate, subject)
  const loosened = gates.filter(({ before, after }) => (covers(before) || covers(after)) && isLoosened(before, after))
  const named = new Set(required.flatMap((gate) => gate.policies))
  const isAsked = ({ name, before, after }: PolicyChange) =>
    named.has(name) ||
    isDeploymentCovered(before, subject) ||
    // A removed policy has no definition afterwards.
    (after !== null && isDeploymentCovered(after, subject))
  const [lax, strict] = [true, false].map((lets) =>
    loosened.flatMap(({ user_id, before }) => (before.allow_run_creator === lets ? [user_id] : [])),
  ) as [string[], string[]]
  const changers = policies.filter(isAsked).map(({ user_id }) => user_id)
  return { loosener_ids: [...lax, ...changers, ...(truster ? [truster] : [])], strict_loosener_ids: strict }
}

type Loosable = Pick<
  GateVersion,
  | 'environment'
  | 'repository'
  | 'branch'
  | 'required_approvals'
  | 'allow_api_keys'
  | 'allow_run_creator'
  | 'policies'
  | 'approve_by_policies'
  | 'require_linked_accounts'
  | 'deleted'
>

/** True if deployments pass the gate more easily after the change than before, or may do so. */
export function isLoosened(before: Loosable, after: Loosable): boolean {
  const getPatterns = ({ environment, repository, branch }: Loosable) => [environment, repository, branch]
  return (
    after.deleted ||
    after.required_approvals < before.required_approvals ||
    (after.allow_api_keys && !before.allow_api_keys) ||
    (after.allow_run_creator && !before.allow_run_creator) ||
    (before.require_linked_accounts && !after.require_linked_accounts) ||
    (after.approve_by_policies !== false && after.approve_by_policies !== before.approve_by_policies) ||
    before.policies.some((name) => !after.policies.includes(name)) ||
    !isDeepStrictEqual(getPatterns(before), getPatterns(after))
  )
}
