import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { GateToRequire } from '../asked-gate.ts'
import type { DeploymentKey } from '../deployment-state.ts'

/**
 * Inserts the gates that a deployment requires, in this order. `approvedAt` is when
 * policies approved all of them, or null.
 */
export async function insertRequiredGates(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  required: GateToRequire[],
  approvedAt: Date | null,
): Promise<void> {
  const records = required.map((gate, position) => ({ ...gate, position }))
  await tx`
    insert into required_gates (
      org_id, deployment_id, position, id, name, required_approvals, allow_api_keys, allow_run_creator, policies,
      approve_by_policies, require_linked_accounts, replaced_at, after_rejection, approved_at, approved_by
    )
    select ${org_id}, ${id}, position, given.id, name, required_approvals, allow_api_keys, allow_run_creator, policies,
      approve_by_policies, require_linked_accounts, replaced_at, after_rejection, ${approvedAt}, ${approvedAt && 'policies'}
    from json_to_recordset(${tx.json(records)}::json) as given (
      position smallint, id uuid, name text, required_approvals smallint, allow_api_keys boolean,
      allow_run_creator boolean, policies text[], approve_by_policies jsonb, require_linked_accounts boolean,
      replaced_at timestamptz, after_rejection boolean
    )`
}

/** Takes back the gates of a locked deployment that is not decided and that nobody has answered. */
export async function deleteRequiredGates(tx: Tx, { org_id, id }: DeploymentKey): Promise<void> {
  await tx`
    delete from required_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
      and not exists (
        select
        from deployment_answers
        where org_id = ${org_id}
          and deployment_id = ${id}
      )
      and exists (
        select
        from deployments deployment
        where deployment.org_id = ${org_id}
          and deployment.id = ${id}
          and rule_decision is null
      )`
}

export async function hasRequiredGates(db: Db, { org_id, id }: DeploymentKey): Promise<boolean> {
  const rows = await db`
    select
    from required_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
    limit 1`
  return rows.length > 0
}

/** SQL: true if a deployment requires gates. `alias` has `org_id` and `id`. */
export function buildHasRequiredGates(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`exists (
    select
    from required_gates required
    where required.org_id = ${of}.org_id ${buildSpreadCondition(db, 'required', orgId)}
      and required.deployment_id = ${of}.id
  )`
}

/** A deployment that waits for our rule although no gate covers it. */
type UncoveredDeployment = DeploymentKey & { repository_full_name: string; environment: string }

/** Deployments of all organizations, or of one, longest waiting first. */
export async function listUncovered(db: Db, orgId: string | null): Promise<UncoveredDeployment[]> {
  return db<UncoveredDeployment[]>`
    select deployment.org_id, deployment.id, deployment.repository_full_name, deployment.environment
    from deployments deployment
    where deployment.status = 'pending_approval'
      and deployment.custom_rule_state = 'pending'
      and deployment.host_id is not null
      ${orgId === null ? db`` : db`and deployment.org_id = ${orgId}`}
      and not exists (
        select
        from required_gates
        where org_id = deployment.org_id
          and deployment_id = deployment.id
      )
    order by deployment.created_at, deployment.id
    limit 1000`
}
