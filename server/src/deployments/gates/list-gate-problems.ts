import { countPeopleWith } from '../../access/members/member.store.ts'
import { listPolicies, type Policy } from '../../compliance/policies/policy.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { ConfiguredGate } from './configured-gate.schema.ts'
import { listGates } from './configured-gate.store.ts'

/**
 * The gates of an organization, each with why it waits for people because its policies cannot
 * approve it, why nobody can answer it, and whether it is still approved as before the upgrade.
 */
export async function listGatesWithProblems(
  db: Db,
  orgId: string,
): Promise<(ConfiguredGate & { problems: string[] })[]> {
  const [gates, policies, people] = await Promise.all([
    listGates(db, orgId),
    listPolicies(db, orgId, { repository: null }),
    countPeopleWith(db, orgId, 'answer_deployment_gates'),
  ])
  return gates.map((gate) => ({ ...gate, problems: findProblems(gate, policies, people) }))
}

function findProblems(gate: ConfiguredGate, policies: Policy[], people: number): string[] {
  const { approve_by_policies, allow_api_keys, required_approvals } = gate
  const unable = approve_by_policies === true ? gate.policies.flatMap((name) => explainUnable(name, policies)) : []
  const byPolicies = approve_by_policies === 'covering' || (approve_by_policies && unable.length === 0)
  return [
    ...(unable.length > 0 ? [`waits for people, because ${unable.join(', and ')}`] : []),
    ...(approve_by_policies === 'covering' ? ['is approved by all policies that cover it, as before the upgrade'] : []),
    ...(byPolicies || allow_api_keys || people >= required_approvals ? [] : ['can be answered by too few people']),
  ]
}

/** Why a named policy can never approve a gate: at most one reason. */
function explainUnable(name: string, policies: Policy[]): string[] {
  const policy = policies.find((each) => each.name === name)
  if (policy === undefined) return [`the policy ${name} does not exist`]
  if (policy.mode === 'monitor') return [`the policy ${name} is in monitor`]
  const engine = policy.definition?.engine
  const hasBlocking = engine?.type !== 'cel' || engine.rules.some(({ blocking }) => blocking)
  return hasBlocking ? [] : [`the policy ${name} has no blocking rule`]
}
