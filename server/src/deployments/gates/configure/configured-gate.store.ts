import type { Db, Tx } from '../../../platform/db/sql.ts'

export type ConfiguredGate = {
  id: string
  name: string
  environment: string
  repository: string | null
  branch: string | null
  required_approvals: number
  allow_api_keys: boolean
  allow_run_creator: boolean
  policies: string[]
  created_at: Date
}

/** Opening a gate reads all gates of the organization, so their number is limited. */
export const GATES_PER_ORGANIZATION_MAX = 1000

/** Inserts a gate. Throws a unique violation when the organization has a gate of the same name. */
export async function insertGate(db: Db, orgId: string, gate: ConfiguredGate): Promise<void> {
  await db`
    insert into configured_gates (
      org_id, id, name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator,
      policies, created_at
    )
    values (
      ${orgId}, ${gate.id}, ${gate.name}, ${gate.environment}, ${gate.repository}, ${gate.branch},
      ${gate.required_approvals}, ${gate.allow_api_keys}, ${gate.allow_run_creator}, ${gate.policies},
      ${gate.created_at}
    )`
}

/** The organization's gates, oldest first: the order in which a deployment requires them. */
export async function listGates(db: Db, orgId: string): Promise<ConfiguredGate[]> {
  return db<ConfiguredGate[]>`
    select id, name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator, policies,
      created_at
    from configured_gates
    where org_id = ${orgId}
    order by created_at, name
    limit ${GATES_PER_ORGANIZATION_MAX}`
}

/**
 * SQL: what each gate covers that was configured before an object was created, as JSON. `alias` has
 * `org_id` and `created_at`.
 */
export function earlierGatesJson(db: Db, alias: string) {
  const of = db(alias)
  return db`(
    select coalesce(json_agg(json_build_object(
      'environment', gate.environment, 'repository', gate.repository, 'branch', gate.branch
    )), '[]')
    from configured_gates gate
    where gate.org_id = ${of}.org_id
      and gate.created_at <= ${of}.created_at
  )`
}

export async function countGates(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from configured_gates
    where org_id = ${orgId}`
  return row.count
}

/** Deletes a gate. Returns null when no gate has this id. */
export async function removeGate(tx: Tx, id: string): Promise<{ org_id: string; id: string; name: string } | null> {
  const [row] = await tx<{ org_id: string; id: string; name: string }[]>`
    delete from configured_gates
    where id = ${id}
    returning org_id, id, name`
  return row ?? null
}
