import type { Db, Tx } from '../../platform/db/sql.ts'

/** Shows on the deployment, which is locked, what the policies said. `evaluation` has the wire form. */
export async function writeEvaluation(tx: Tx, orgId: string, id: string, evaluation: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set policy_evaluation = ${tx.json(evaluation as never)}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/** Notes that the policies were asked, and what whoever polls should know of it. */
export async function notePolicies(tx: Tx, orgId: string, deploymentId: string, note: string | null, at: Date) {
  await tx`
    update opened_gates
    set policies_asked_at = ${at}, note = ${note}
    where org_id = ${orgId}
      and deployment_id = ${deploymentId}
      and status = 'waiting'`
}

/** Deployments of any organization whose gate was opened before `openedBefore` and whose policies were never asked. */
export async function findUnevaluated(db: Db, openedBefore: Date): Promise<{ org_id: string; id: string }[]> {
  return db<{ org_id: string; id: string }[]>`
    select org_id, deployment_id as id
    from opened_gates
    where policies_asked_at is null
      and status = 'waiting'
      and created_at <= ${openedBefore}
    order by created_at
    limit 100`
}

/** Which of an organization's waiting deployments are meant: all, a run's, or those of `owner/name` in whatever case. */
export type WaitingOf = { run_id?: string; repository?: string }

/** The deployments that wait for an answer, the longest first. */
export async function findWaiting(db: Db, orgId: string, { run_id, repository }: WaitingOf): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select gate.deployment_id as id
    from opened_gates gate
    join deployments deployment on deployment.org_id = gate.org_id and deployment.id = gate.deployment_id
    where gate.org_id = ${orgId}
      and gate.status = 'waiting'
      ${run_id === undefined ? db`` : db`and gate.run_id = ${run_id}`}
      ${repository === undefined ? db`` : db`and lower(deployment.repository_full_name) = lower(${repository})`}
    order by gate.created_at, gate.id
    limit 1000`
  return rows.map((row) => row.id)
}
