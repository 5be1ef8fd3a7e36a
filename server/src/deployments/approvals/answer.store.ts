import type { AskedEvidence } from '../../compliance/policies/asked-evidence.schema.ts'
import type { PolicyVerdict, RuleVerdict } from '../../compliance/policies/policy-verdict.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'

/** An approval or rejection of a deployment by one principal. */
export type Answer = {
  id: string
  principal_type: 'api_key' | 'user'
  principal_id: string
  principal_name: string
  /** The user who answered, or who created the API key that answered; null if nobody is known. */
  person_id: string | null
  decision: 'approved' | 'rejected'
  /** Only null for users. */
  reason: string | null
  comment: string | null
  answered_at: Date
  /** Of the permissions of an override, those that it was given with. Null for older answers. */
  permissions: string[] | null
}

const ANSWERS_MAX = 1000

export async function insertAnswer(tx: Tx, { org_id, id }: DeploymentKey, answer: Answer): Promise<void> {
  await tx`
    insert into deployment_answers (
      org_id, id, deployment_id, principal_type, principal_id, principal_name, person_id, decision, reason, comment,
      answered_at, permissions
    )
    values (
      ${org_id}, ${answer.id}, ${id}, ${answer.principal_type}, ${answer.principal_id}, ${answer.principal_name},
      ${answer.person_id}, ${answer.decision}, ${answer.reason}, ${answer.comment}, ${answer.answered_at},
      ${answer.permissions}
    )`
}

/** Answers, oldest first. */
export async function listAnswers(db: Db, { org_id, id }: DeploymentKey): Promise<Answer[]> {
  return db<Answer[]>`
    select id, principal_type, principal_id, principal_name, person_id, decision, reason, comment, answered_at,
      permissions
    from deployment_answers
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by answered_at, id
    limit ${ANSWERS_MAX}`
}

/** What opened a deployment: an API key or trust by a gate, or an account on the code host. */
type Opening = { provider: string | null; credential_id: string | null; host_creator: string | null }

export async function findOpening(db: Db, { org_id, id }: DeploymentKey): Promise<Opening> {
  const [row] = await db<[Opening]>`
    select deployment.provider, gate.credential_id, deployment.host_creator
    from deployments deployment
    left join opened_gates gate on gate.org_id = deployment.org_id and gate.deployment_id = deployment.id
    where deployment.org_id = ${org_id}
      and deployment.id = ${id}`
  return row
}

/** The stored evaluation of a deployment; the arrays have the same order. Null without one. */
export type EvaluatedPolicies = {
  policies:
    | (Pick<PolicyVerdict, 'id' | 'name' | 'version' | 'mode' | 'decision' | 'earlier'> & {
        /** Absent in older evaluations. */
        path?: string | null
      })[]
    | null
  rules: Omit<RuleVerdict, 'evidence'>[][] | null
  evidence: (string | null)[][] | null
  asked_evidence: AskedEvidence[] | null
}

export async function findEvaluatedPolicies(db: Db, { org_id, id }: DeploymentKey): Promise<EvaluatedPolicies> {
  const [row] = await db<[EvaluatedPolicies]>`
    select policy_evaluation -> 'policies' as policies, policy_rules as rules, policy_evidence as evidence,
      asked_evidence
    from deployments
    where org_id = ${org_id}
      and id = ${id}`
  return row
}
