import { Check } from 'typebox/value'
import type { Principal } from '../../audit/audit.store.ts'
import { buildDefaultTrust, type DefaultTrust } from '../../organizations/organization.store.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { findByAddress } from '../../repositories/repository.store.ts'
import { applyDefaultTrust } from './evidence-view.ts'
import { type PolicyBundle, PolicyDefinition, type PolicyMode } from './policy.schema.ts'

type PolicySummary = { id: string; name: string; version: number; mode: PolicyMode }

/**
 * The current version of a policy. `definition` is null if the stored definition cannot be read.
 */
export type Policy = PolicySummary & {
  definition: PolicyDefinition | null
  /** The file in its repository; null for a policy of the organization. */
  path: string | null
  /** When the version was applied; null if it is missing. */
  created_at: Date | null
  /** When the version was replaced or the policy removed; null for the version of now. */
  replaced_at: Date | null
}

/** The versions of when a deployment was opened are asked too, and those replaced within a day. */
export type AskedTimes = { opened: Date; now: Date }

/** Policies per organization. Every deployment is checked against all of them. */
export const POLICIES_MAX = 500
/** Policy files per repository. */
export const POLICY_FILES_MAX = 50
const LISTED_MAX = 10_000
/** More versions are not readable, so that none of them can be pushed out. */
const ASKED_MAX = 5000

/** A policy file in a repository. `blob` is the version of the file. */
export type PolicyFileName = { provider: string; repository_id: string; path: string; blob: string }

type NewPolicy = { name: string; newId: string; file: PolicyFileName | null }

/**
 * Locks the policy of that name or file until the transaction ends. Creates version 0 if it is new.
 */
export async function lockPolicy(tx: Tx, orgId: string, { name, newId, file }: NewPolicy, at: Date) {
  const { provider = null, repository_id = null, path = null, blob = null } = file ?? {}
  const identity =
    file === null
      ? tx`(org_id, name) where repository_id is null`
      : tx`(org_id, provider, repository_id, path) where repository_id is not null`
  const [row] = await tx<[{ id: string; version: number; is_removed: boolean }]>`
    insert into policies as policy (
      org_id, id, name, version, provider, repository_id, path, blob, created_at, updated_at
    )
    values (${orgId}, ${newId}, ${name}, 0, ${provider}, ${repository_id}, ${path}, ${blob}, ${at}, ${at})
    on conflict ${identity} do update
    set name = excluded.name, blob = excluded.blob
    returning id, version, removed_at is not null as is_removed`
  return row
}

export async function countPolicies(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from policies
    where org_id = ${orgId}
      and repository_id is null
      and removed_at is null`
  return row.count
}

/**
 * Lists policies in their current versions, by name: those of the organization, and those in the
 * files of a repository (`host/owner/name` or `owner/name`) unless it is null. They have the
 * default trust of the organization. A missing version counts as `enforce`. With `asked`, also the
 * earlier versions of these that are asked then, the newest after that of now.
 */
export async function listPolicies(
  db: Db,
  orgId: string,
  { repository, asked }: { repository: string | null; asked?: AskedTimes | undefined },
): Promise<Policy[]> {
  const repositories = repository === null ? [] : await findByAddress(db, orgId, repository)
  const isListed = buildIsListed(db, orgId, repositories)
  const max = asked ? ASKED_MAX : POLICIES_MAX + POLICY_FILES_MAX
  const trust = buildDefaultTrust(db, orgId, asked ? getAskedSince(asked) : null)
  const rows = await db<(Omit<Policy, 'definition'> & { definition: unknown; trust: DefaultTrust | null })[]>`
    select listed.*, ${trust} as trust
    from (
    select policy.id, policy.name, policy.version, coalesce(stored.mode, 'enforce') as mode, policy.path,
      stored.definition, stored.created_at, null::timestamptz as replaced_at
    from policies policy
    left join policy_versions stored
      on stored.org_id = policy.org_id and stored.policy_id = policy.id and stored.version = policy.version
    where ${isListed}
      and policy.removed_at is null
    ${asked ? db`union all ${selectReplaced(db, isListed, asked)}` : db``}
    ) listed
    order by name, id, replaced_at desc nulls first
    limit ${max}`
  if (asked && rows.length === max) throw new Error(`The policies of ${orgId} have too many versions of the last day`)
  return rows.map(({ definition, trust, ...row }) => ({
    ...row,
    definition: Check(PolicyDefinition, definition) ? applyDefaultTrust(definition, trust ?? 'uploaded') : null,
  }))
}

/** SQL: whether `policy` is of the organization or in a file of one of the repositories. */
function buildIsListed(db: Db, orgId: string, repositories: { provider: string; id: string }[]) {
  return db`policy.org_id = ${orgId}
      and (
        policy.repository_id is null
        or (policy.provider, policy.repository_id) in (
          select provider, repository_id
          from unnest(
            ${repositories.map(({ provider }) => provider)}::text[], ${repositories.map(({ id }) => id)}::text[]
          ) as named (provider, repository_id)
        )
      )`
}

/** What has changed since then can still be asked as it was before. */
function getAskedSince({ opened, now }: AskedTimes): Date {
  const dayAgo = new Date(now.getTime() - DAY_MS)
  return opened < dayAgo ? opened : dayAgo
}

/** Reads versions only of policies that have changed since the opening or within a day. */
function selectReplaced(db: Db, isListed: ReturnType<typeof buildIsListed>, asked: AskedTimes) {
  const { opened, now } = asked
  const dayAgo = new Date(now.getTime() - DAY_MS)
  return db`
    select id, name, version, mode, path, definition, created_at, replaced_at
    from (
      select policy.id, policy.name, stored.version, stored.mode, policy.path, stored.definition, stored.created_at,
        least(
          next.created_at, stored.removed_at, case when stored.version = policy.version then policy.removed_at end
        ) as replaced_at
      from policies policy
      join policy_versions stored on stored.org_id = policy.org_id and stored.policy_id = policy.id
      left join policy_versions next
        on next.org_id = stored.org_id and next.policy_id = stored.policy_id and next.version = stored.version + 1
      where ${isListed}
        and policy.updated_at > ${getAskedSince(asked)}
    ) replaced
    where replaced_at > ${dayAgo}
      or (created_at <= ${opened} and replaced_at > ${opened})`
}

/** A policy with its file; the fields of the file are null for a policy of the organization. */
export type ListedPolicy = PolicySummary & {
  provider: string | null
  repository_id: string | null
  path: string | null
  /** Null if the stored definition cannot be read. */
  engine: PolicyDefinition['engine']['type'] | null
  /** Who applied the current version, and why. Null if that is not known. */
  changed_by: Principal | null
  reason: string | null
  /** The number of repositories by the status of their compliance result. */
  results: { passing: number; failing: number; warning: number; not_evaluated: number }
  created_at: Date
  updated_at: Date
}

/** Lists the policies of an organization, and then those of all its repositories. */
export async function listAllPolicies(db: Db, orgId: string): Promise<ListedPolicy[]> {
  return db<ListedPolicy[]>`
    ${selectListed(db, orgId)}
    order by policy.path is not null, policy.provider, policy.repository_id, policy.name, policy.id
    limit ${LISTED_MAX}`
}

/** Returns null if the organization has no such policy, or if it is removed. */
export async function findPolicy(db: Db, orgId: string, id: string): Promise<ListedPolicy | null> {
  const [row] = await db<ListedPolicy[]>`
    ${selectListed(db, orgId)}
      and policy.id = ${id}`
  return row ?? null
}

function selectListed(db: Db, orgId: string) {
  return db`
    select policy.id, policy.name, policy.version, coalesce(stored.mode, 'enforce') as mode,
      policy.provider, policy.repository_id, policy.path, policy.created_at, policy.updated_at,
      stored.definition #>> '{engine,type}' as engine, stored.reason,
      case when stored.principal_type is not null then
        json_build_object('type', stored.principal_type, 'id', stored.principal_id, 'name', stored.principal_name)
      end as changed_by,
      ${countResults(db)} as results
    from policies policy
    left join policy_versions stored
      on stored.org_id = policy.org_id and stored.policy_id = policy.id and stored.version = policy.version
    where policy.org_id = ${orgId}
      and policy.removed_at is null`
}

function countResults(db: Db) {
  return db`(
    select json_build_object(
      'passing', count(*) filter (where status = 'passing'),
      'failing', count(*) filter (where status = 'failing'),
      'warning', count(*) filter (where status = 'warning'),
      'not_evaluated', count(*) filter (where status = 'not_evaluated')
    )
    from compliance_results
    where org_id = policy.org_id
      and policy_id = policy.id::text
  )`
}

/** The policy of the organization with this name; null if there is none or it is removed. */
export async function findCurrentPolicy(db: Db, orgId: string, name: string) {
  const [row] = await db<{ id: string; version: number }[]>`
    select id, version
    from policies
    where org_id = ${orgId}
      and name = ${name}
      and repository_id is null
      and removed_at is null`
  return row ?? null
}

/** Locks a policy that is not removed until the transaction ends. Null if there is none. */
export async function lockListedPolicy(tx: Tx, orgId: string, id: string) {
  const [row] = await tx<{ id: string; name: string; version: number; path: string | null }[]>`
    select id, name, version, path
    from policies
    where org_id = ${orgId}
      and id = ${id}
      and removed_at is null
    for update`
  return row ?? null
}

/** Marks a policy as removed. Its versions are kept; the last one says when and by whom. */
export async function updatePolicyRemoved(
  tx: Tx,
  orgId: string,
  { id, removedBy }: { id: string; removedBy: Principal | null },
  now: Date,
): Promise<void> {
  await tx`
    update policies
    set removed_at = ${now}, updated_at = ${now}
    where org_id = ${orgId}
      and id = ${id}`
  await tx`
    update policy_versions
    set removed_at = ${now}, removed_by_id = ${removedBy?.type === 'user' ? removedBy.id : null}
    where org_id = ${orgId}
      and policy_id = ${id}
      and version = (
        select version
        from policies
        where org_id = ${orgId}
          and id = ${id}
      )`
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

/** Stores a bundle. Does nothing if it is already stored. */
export async function insertBundle(
  db: Db,
  orgId: string,
  { sha256, wasm, data }: PolicyBundle & { sha256: string },
  at: Date,
): Promise<void> {
  await db`
    insert into policy_bundles (org_id, sha256, wasm, data, created_at)
    values (${orgId}, ${sha256}, ${wasm}, ${db.json(data as never)}, ${at})
    on conflict do nothing`
}

/** Returns the bundle with that SHA-256, or null if it is not stored. */
export async function findBundle(db: Db, orgId: string, sha256: string): Promise<PolicyBundle | null> {
  const [row] = await db<PolicyBundle[]>`
    select wasm, data
    from policy_bundles
    where org_id = ${orgId}
      and sha256 = ${sha256}`
  return row ?? null
}
