import type { Author } from '../../audit/audit.store.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildApproveByPolicies } from '../asked-gate.store.ts'
import type { ConfiguredGate, GateVersion } from './configured-gate.schema.ts'

/** Opening a gate reads all gates of the organization, so their number is limited. */
export const GATES_PER_ORGANIZATION_MAX = 1000

const VERSIONS_LISTED_MAX = 1000

/**
 * Stores a gate, or its next version, with the version. Throws a unique violation when the
 * organization has another gate of the same name.
 */
export async function upsertGate(tx: Tx, orgId: string, gate: ConfiguredGate, author: Author): Promise<void> {
  await tx`
    insert into configured_gates (
      org_id, id, name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator,
      policies, approve_by_policies, require_linked_accounts, version, created_at, updated_at
    )
    values (
      ${orgId}, ${gate.id}, ${gate.name}, ${gate.environment}, ${gate.repository}, ${gate.branch},
      ${gate.required_approvals}, ${gate.allow_api_keys}, ${gate.allow_run_creator}, ${gate.policies},
      ${tx.json(gate.approve_by_policies)}, ${gate.require_linked_accounts}, ${gate.version}, ${gate.created_at}, ${gate.updated_at}
    )
    on conflict (org_id, id) do update
    set name = excluded.name, environment = excluded.environment, repository = excluded.repository,
      branch = excluded.branch, required_approvals = excluded.required_approvals,
      allow_api_keys = excluded.allow_api_keys, allow_run_creator = excluded.allow_run_creator,
      policies = excluded.policies, approve_by_policies = excluded.approve_by_policies,
      require_linked_accounts = excluded.require_linked_accounts, version = excluded.version, updated_at = excluded.updated_at`
  await insertGateVersion(tx, orgId, { ...gate, deleted: false }, author)
}

/** Stores a version of a gate, or its deletion. */
export async function insertGateVersion(
  tx: Tx,
  orgId: string,
  gate: ConfiguredGate & { deleted: boolean },
  { principal, reason }: Author,
): Promise<void> {
  await tx`
    insert into gate_versions (
      org_id, gate_id, version, name, environment, repository, branch, required_approvals, allow_api_keys,
      allow_run_creator, policies, approve_by_policies, require_linked_accounts, deleted, principal_type, principal_id, principal_name, reason, created_at
    )
    values (
      ${orgId}, ${gate.id}, ${gate.version}, ${gate.name}, ${gate.environment}, ${gate.repository}, ${gate.branch},
      ${gate.required_approvals}, ${gate.allow_api_keys}, ${gate.allow_run_creator}, ${gate.policies},
      ${tx.json(gate.approve_by_policies)}, ${gate.require_linked_accounts}, ${gate.deleted}, ${principal.type}, ${principal.id}, ${principal.name}, ${reason}, ${gate.updated_at}
    )`
}

/** The organization's gates, oldest first: the order in which a deployment requires them. */
export async function listGates(db: Db, orgId: string): Promise<ConfiguredGate[]> {
  return db<ConfiguredGate[]>`
    select ${gateColumns(db)}
    from configured_gates
    where org_id = ${orgId}
    order by created_at, name
    limit ${GATES_PER_ORGANIZATION_MAX}`
}

function gateColumns(db: Db) {
  return db`id, name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator,
    policies, ${buildApproveByPolicies(db)}, require_linked_accounts, version, created_at, updated_at`
}

/** The names of the gates that name a policy. */
export async function listGatesOfPolicy(db: Db, orgId: string, policyName: string): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select name
    from configured_gates
    where org_id = ${orgId}
      and policies @> array[${policyName}]::text[]
    order by name
    limit ${GATES_PER_ORGANIZATION_MAX}`
  return rows.map(({ name }) => name)
}

/** Returns null when the organization has no such gate. */
export async function findGate(db: Db, orgId: string, id: string): Promise<ConfiguredGate | null> {
  const [row] = await db<ConfiguredGate[]>`
    select ${gateColumns(db)}
    from configured_gates
    where org_id = ${orgId}
      and id = ${id}`
  return row ?? null
}

/** Locks a gate until the transaction ends. Returns null when the organization has no such gate. */
export async function lockGate(tx: Tx, orgId: string, id: string): Promise<ConfiguredGate | null> {
  const [row] = await tx<ConfiguredGate[]>`
    select ${gateColumns(tx)}
    from configured_gates
    where org_id = ${orgId}
      and id = ${id}
    for update`
  return row ?? null
}

/** The newest versions of a gate, newest first. A deleted gate keeps its versions. */
export async function listGateVersions(db: Db, orgId: string, id: string): Promise<GateVersion[]> {
  return db<GateVersion[]>`
    select version, name, environment, repository, branch, required_approvals, allow_api_keys, allow_run_creator,
      policies, ${buildApproveByPolicies(db)}, require_linked_accounts, deleted, created_at, reason,
      case when principal_type is not null then
        json_build_object('type', principal_type, 'id', principal_id, 'name', principal_name)
      end as changed_by
    from gate_versions
    where org_id = ${orgId}
      and gate_id = ${id}
    order by version desc
    limit ${VERSIONS_LISTED_MAX}`
}

/**
 * SQL: what each gate covered when an object was created, as JSON. Gates that were created later or
 * deleted since are left out. `alias` has `org_id` and `created_at`.
 */
export function buildEarlierGatesJson(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`(
    select coalesce(json_agg(json_build_object(
      'environment', earlier.environment, 'repository', earlier.repository, 'branch', earlier.branch
    )), '[]')
    from configured_gates gate
    cross join lateral (
      select environment, repository, branch
      from gate_versions versions
      where org_id = gate.org_id ${buildSpreadCondition(db, 'versions', orgId)}
        and gate_id = gate.id
        and created_at <= ${of}.created_at
      order by version desc
      limit 1
    ) earlier
    where gate.org_id = ${of}.org_id ${buildSpreadCondition(db, 'gate', orgId)}
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

/**
 * Deletes a gate of an organization, or of any (null). Returns null when there is no such gate.
 */
export async function deleteConfiguredGate(tx: Tx, orgId: string | null, id: string) {
  const [row] = await tx<(ConfiguredGate & { org_id: string })[]>`
    delete from configured_gates
    where id = ${id}
      ${orgId === null ? tx`` : tx`and org_id = ${orgId}`}
    returning org_id, ${gateColumns(tx)}`
  return row ?? null
}

/** A change of a gate by a person: the version before, and what it became. */
export type GateChange = { user_id: string; before: GateVersion; after: GateVersion }

const CHANGES_MAX = 10_000

/** The changes of gates by people since a time. The first version of a gate is none. */
export async function listGateChanges(db: Db, orgId: string, since: Date): Promise<GateChange[]> {
  return db<GateChange[]>`
    select after.principal_id as user_id, ${versionJson(db, 'before')} as before, ${versionJson(db, 'after')} as after
    from gate_versions after
    join gate_versions before
      on before.org_id = after.org_id and before.gate_id = after.gate_id and before.version = after.version - 1
    where after.org_id = ${orgId}
      and after.created_at >= ${since}
      and after.principal_type = 'user'
    order by after.created_at desc, after.gate_id, after.version desc
    limit ${CHANGES_MAX}`
}

function versionJson(db: Db, alias: string) {
  return db`(
    select row_to_json(settings)
    from (
      select required_approvals, environment, repository, branch, allow_api_keys, allow_run_creator, policies,
        ${buildApproveByPolicies(db)}, require_linked_accounts, deleted
      from (select ${db(alias)}.*) stored
    ) settings
  )`
}
