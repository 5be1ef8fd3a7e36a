import type { PolicyDecision, RuleVerdict } from '../../compliance/policies/policy-verdict.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { DecisionGate } from './decision.schema.ts'

/** The stored evaluation of a deployment; the arrays have the same order. Null without one. */
export type EvaluatedPolicies = {
  policies:
    | { id: string; name: string; version: number; mode: 'monitor' | 'enforce'; decision: PolicyDecision }[]
    | null
  rules: Omit<RuleVerdict, 'evidence'>[][] | null
  evidence: (string | null)[][] | null
}

export async function findEvaluatedPolicies(db: Db, { org_id, id }: DeploymentKey): Promise<EvaluatedPolicies> {
  const [row] = await db<[EvaluatedPolicies]>`
    select policy_evaluation -> 'policies' as policies, policy_rules as rules, policy_evidence as evidence
    from deployments
    where org_id = ${org_id}
      and id = ${id}`
  return row
}

/** What approved each gate of a deployment, by the gate's id. */
export async function listGateApprovers(db: Db, { org_id, id }: DeploymentKey) {
  const rows = await db<{ id: string; approved_by: DecisionGate['approved_by'] }[]>`
    select id, approved_by
    from required_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
    limit 1000`
  return new Map(rows.map((gate) => [gate.id, gate.approved_by]))
}
