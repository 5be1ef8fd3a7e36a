import type { Db, Tx } from '../platform/db/sql.ts'

/** A gate that a deployment needs, as it was configured when the deployment asked. */
export type RequiredGate = {
  id: string
  name: string
  required_approvals: number
  allow_api_keys: boolean
  allow_run_creator: boolean
  policies: string[]
  approved_at: Date | null
}

const REQUIRED_MAX = 1000

/** What a deployment needs, in the order in which it is asked. */
export async function listRequiredGates(db: Db, orgId: string, deploymentId: string): Promise<RequiredGate[]> {
  return db<RequiredGate[]>`
    select id, name, required_approvals, allow_api_keys, allow_run_creator, policies, approved_at
    from required_gates
    where org_id = ${orgId}
      and deployment_id = ${deploymentId}
    order by position
    limit ${REQUIRED_MAX}`
}

export async function approveRequiredGates(tx: Tx, orgId: string, deploymentId: string, ids: string[], at: Date) {
  if (ids.length === 0) return
  await tx`
    update required_gates
    set approved_at = ${at}
    where org_id = ${orgId}
      and deployment_id = ${deploymentId}
      and id in ${tx(ids)}
      and approved_at is null`
}
