import { Check } from 'typebox/value'
import type { Db, Tx } from '../platform/db/sql.ts'
import { PolicyDefinition, type PolicyMode } from './policy.schema.ts'

export type PolicySummary = { id: string; name: string; version: number; mode: PolicyMode }

/** A policy in force. `definition` is null where the stored one cannot be read. */
export type Policy = PolicySummary & { definition: PolicyDefinition | null }

/** Policies that one organization may have; every deployment is held against all of them. */
export const POLICIES_MAX = 500

/** The policy of that name, made when it is new, locked until the transaction ends. */
export async function lockPolicy(tx: Tx, orgId: string, name: string, newId: string, at: Date) {
  const [row] = await tx<[{ id: string; version: number }]>`
    insert into policies as policy (org_id, id, name, version, created_at, updated_at)
    values (${orgId}, ${newId}, ${name}, 0, ${at}, ${at})
    on conflict (org_id, name) do update
    set name = excluded.name
    returning id, version`
  return row
}

/** The hash of a version's content; null where there is no such version. Asked once the policy is locked. */
export async function findContentHash(tx: Tx, orgId: string, policyId: string, version: number) {
  const [row] = await tx<{ content_hash: Buffer }[]>`
    select content_hash
    from policy_versions
    where org_id = ${orgId}
      and policy_id = ${policyId}
      and version = ${version}`
  return row?.content_hash ?? null
}

export type NewVersion = { id: string; version: number; definition: PolicyDefinition; content_hash: Buffer }

/** Puts a version in force. The policy is locked. */
export async function insertVersion(tx: Tx, orgId: string, policy: NewVersion, at: Date): Promise<void> {
  await tx`
    insert into policy_versions (org_id, policy_id, version, mode, definition, content_hash, created_at)
    values (
      ${orgId}, ${policy.id}, ${policy.version}, ${policy.definition.mode}, ${tx.json(policy.definition)},
      ${policy.content_hash}, ${at}
    )`
  await tx`
    update policies
    set version = ${policy.version}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${policy.id}`
}

export async function countPolicies(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from policies
    where org_id = ${orgId}`
  return row.count
}

/** Every policy of an organization in the version in force, by name. Of one whose version is gone, the worst is assumed. */
export async function listPolicies(db: Db, orgId: string): Promise<Policy[]> {
  const rows = await db<(PolicySummary & { definition: unknown })[]>`
    select policy.id, policy.name, policy.version, coalesce(stored.mode, 'enforce') as mode, stored.definition
    from policies policy
    left join policy_versions stored
      on stored.org_id = policy.org_id and stored.policy_id = policy.id and stored.version = policy.version
    where policy.org_id = ${orgId}
    order by policy.name
    limit ${POLICIES_MAX}`
  return rows.map((row) => ({ ...row, definition: Check(PolicyDefinition, row.definition) ? row.definition : null }))
}

export async function hasPolicies(db: Db, orgId: string): Promise<boolean> {
  const rows = await db`
    select
    from policies
    where org_id = ${orgId}
    limit 1`
  return rows.length > 0
}

const ORGANIZATIONS_MAX = 10_000

export async function listOrganizationsWithPolicies(db: Db): Promise<string[]> {
  const rows = await db<{ org_id: string }[]>`
    select distinct org_id
    from policies
    order by org_id
    limit ${ORGANIZATIONS_MAX}`
  return rows.map(({ org_id }) => org_id)
}
