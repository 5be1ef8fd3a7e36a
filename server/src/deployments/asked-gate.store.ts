import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db/sql.ts'
import type { AskedVersion } from './asked-gate.ts'
import type { DeploymentKey, RequiredGate } from './deployment-state.ts'

/** More changes of gates within a day are not readable, so that none of them can be pushed out. */
const VERSIONS_MAX = 10_000

/**
 * The versions of the gates of an organization that a deployment is asked under: those of now,
 * those of its opening, and those that were replaced within the last day (trust §5). Those of now
 * come first, oldest gate first, which is the order in which a deployment requires them; then the
 * others, latest replaced first.
 */
export async function listAskedGates(
  db: Db,
  orgId: string,
  { opened, now }: { opened: Date; now: Date },
): Promise<AskedVersion[]> {
  const dayAgo = new Date(now.getTime() - DAY_MS)
  const rows = await db<AskedVersion[]>`
    select id, ${versionColumns(db)}, null::timestamptz as replaced_at, updated_at as made_at, created_at
    from configured_gates
    where org_id = ${orgId}
    union all
    select gate_id, ${versionColumns(db)}, replaced_at, created_at as made_at, created_at
    from (
      select earlier.*, next.created_at as replaced_at
      from gate_versions next
      join gate_versions earlier
        on earlier.org_id = next.org_id and earlier.gate_id = next.gate_id and earlier.version = next.version - 1
      where next.org_id = ${orgId}
        and next.created_at > ${opened < dayAgo ? opened : dayAgo}
        and (next.created_at > ${dayAgo} or earlier.created_at <= ${opened})
    ) replaced
    order by replaced_at desc nulls first, created_at, name
    limit ${VERSIONS_MAX}`
  if (rows.length === VERSIONS_MAX) throw new Error(`The gates of ${orgId} have too many versions of the last day`)
  return rows
}

function versionColumns(db: Db) {
  return db`name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator,
    policies, ${buildApproveByPolicies(db)}, require_linked_accounts`
}

const REQUIRED_GATES_MAX = 1000

/** A gate that a deployment requires, as it was stored at the opening. */
export type StoredGate = RequiredGate & {
  /** When the gate was last changed or deleted; null if it never was. */
  changed_at: Date | null
}

/** The gates that a deployment requires, in the order in which they are shown. */
export async function listStoredGates(db: Db, { org_id, id }: DeploymentKey): Promise<StoredGate[]> {
  return db<StoredGate[]>`
    select id, name, required_approvals, allow_api_keys, allow_run_creator, policies,
      ${buildApproveByPolicies(db)}, require_linked_accounts, approved_at, approved_by, replaced_at, after_rejection,
      not allow_run_creator or required_approvals > 1 as asks_earlier,
      (
        select case when newest.version > 1 then newest.created_at end
        from gate_versions newest
        where newest.org_id = ${org_id}
          and newest.gate_id = required_gates.id
        order by newest.version desc
        limit 1
      ) as changed_at
    from required_gates
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by position
    limit ${REQUIRED_GATES_MAX}`
}

/**
 * SQL: the column of a gate. Gates that were stored before it existed mean what they did: named
 * policies approve, and so do all that cover a deployment where one approval is required.
 */
export function buildApproveByPolicies(db: Db) {
  return db`coalesce(approve_by_policies, case
    when cardinality(policies) > 0 then 'true'::jsonb
    when required_approvals = 1 then '"covering"'
    else 'false'
  end) as approve_by_policies`
}
