import type { Db, Tx } from '../../platform/db/sql.ts'

/** What one principal said to a deployment. */
export type Answer = {
  id: string
  principal_type: 'api_key' | 'user'
  principal_id: string
  principal_name: string
  decision: 'approved' | 'rejected'
  reason: string
  comment: string | null
  answered_at: Date
}

const ANSWERS_MAX = 1000

export async function insertAnswer(tx: Tx, orgId: string, deploymentId: string, answer: Answer): Promise<void> {
  await tx`
    insert into deployment_answers (
      org_id, id, deployment_id, principal_type, principal_id, principal_name, decision, reason, comment, answered_at
    )
    values (
      ${orgId}, ${answer.id}, ${deploymentId}, ${answer.principal_type}, ${answer.principal_id},
      ${answer.principal_name}, ${answer.decision}, ${answer.reason}, ${answer.comment}, ${answer.answered_at}
    )`
}

/** What was said to a deployment, the first first. */
export async function listAnswers(db: Db, orgId: string, deploymentId: string): Promise<Answer[]> {
  return db<Answer[]>`
    select id, principal_type, principal_id, principal_name, decision, reason, comment, answered_at
    from deployment_answers
    where org_id = ${orgId}
      and deployment_id = ${deploymentId}
    order by answered_at, id
    limit ${ANSWERS_MAX}`
}

/** Shows an answer on the deployment, which is locked. `approval` has the wire form. */
export async function appendApproval(tx: Tx, orgId: string, id: string, approval: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set approvals = approvals || ${tx.json([approval] as never)}::jsonb, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/** Shows on the deployment, which is locked, that an answer went against the policies. */
export async function writeOverride(tx: Tx, orgId: string, id: string, override: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set override = ${tx.json(override as never)}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}
