import { Check } from 'typebox/value'
import type { Author, Principal } from '../../audit/audit.store.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { PolicyDefinition, type PolicyMode } from './policy.schema.ts'

const VERSIONS_LISTED_MAX = 1000

/** Returns the content hash of a version, or null if there is none. Requires the policy lock. */
export async function findContentHash(tx: Tx, orgId: string, policyId: string, version: number) {
  const [row] = await tx<{ content_hash: Buffer }[]>`
    select content_hash
    from policy_versions
    where org_id = ${orgId}
      and policy_id = ${policyId}
      and version = ${version}`
  return row?.content_hash ?? null
}

type NewVersion = {
  id: string
  version: number
  definition: PolicyDefinition
  source: string
  content_hash: Buffer
  author: Author
}

/**
 * Stores a version and makes it the current one, also of a removed policy. Requires the policy
 * lock.
 */
export async function insertVersion(tx: Tx, orgId: string, policy: NewVersion, at: Date): Promise<void> {
  const { principal, reason } = policy.author
  // PostgreSQL cannot store U+0000, which a comment of a file may contain.
  const source = policy.source.replaceAll('\0', '\ufffd')
  await tx`
    insert into policy_versions (
      org_id, policy_id, version, mode, definition, source, content_hash, principal_type, principal_id,
      principal_name, reason, created_at
    )
    values (
      ${orgId}, ${policy.id}, ${policy.version}, ${policy.definition.mode}, ${tx.json(policy.definition)},
      ${source}, ${policy.content_hash}, ${principal.type}, ${principal.id}, ${principal.name}, ${reason}, ${at}
    )`
  await tx`
    update policies
    set version = ${policy.version}, updated_at = ${at}, removed_at = null
    where org_id = ${orgId}
      and id = ${policy.id}`
}

/** A version of a policy without its content. Who applied it is null if that is not known. */
export type PolicyVersion = {
  version: number
  mode: PolicyMode
  changed_by: Principal | null
  reason: string | null
  created_at: Date
}

/** The newest versions of a policy, newest first. */
export async function listVersions(db: Db, orgId: string, policyId: string): Promise<PolicyVersion[]> {
  return db<PolicyVersion[]>`
    select ${versionColumns(db)}
    from policy_versions
    where org_id = ${orgId}
      and policy_id = ${policyId}
    order by version desc
    limit ${VERSIONS_LISTED_MAX}`
}

/** A change of a policy by a person. Without `after`, they removed it. */
export type PolicyChange = { user_id: string; name: string } & Record<'before' | 'after', PolicyDefinition | null>

const CHANGES_MAX = 10_000

/**
 * The changes of policies of the organization by people since a time. The first version of a policy
 * is none. Definitions that cannot be read are null.
 */
export async function listPolicyChanges(db: Db, orgId: string, since: Date): Promise<PolicyChange[]> {
  const rows = await db<(Pick<PolicyChange, 'user_id' | 'name'> & Record<'before' | 'after', unknown>)[]>`
    select stored.principal_id as user_id, policy.name, before.definition as before, stored.definition as after,
      stored.created_at as at
    from policy_versions stored
    join policy_versions before
      on before.org_id = stored.org_id and before.policy_id = stored.policy_id and before.version = stored.version - 1
    join policies policy on policy.org_id = stored.org_id and policy.id = stored.policy_id
    where stored.org_id = ${orgId}
      and stored.created_at >= ${since}
      and stored.principal_type = 'user'
      and policy.repository_id is null
    union all
    select removed.removed_by_id, policy.name, removed.definition, null, removed.removed_at
    from policy_versions removed
    join policies policy on policy.org_id = removed.org_id and policy.id = removed.policy_id
    where removed.org_id = ${orgId}
      and removed.removed_at >= ${since}
      and removed.removed_by_id is not null
      and policy.repository_id is null
    order by at desc, name
    limit ${CHANGES_MAX}`
  const toDefinition = (stored: unknown) => (Check(PolicyDefinition, stored) ? stored : null)
  return rows.map(({ user_id, name, before, after }) => ({
    user_id,
    name,
    before: toDefinition(before),
    after: toDefinition(after),
  }))
}

/**
 * A version with its content. `file` is null for versions that were applied before files were
 * stored, and `definition` if the stored one cannot be read.
 */
export type StoredVersion = PolicyVersion & { file: string | null; definition: PolicyDefinition | null }

/** Returns null if the policy has no such version. */
export async function findVersion(
  db: Db,
  orgId: string,
  policyId: string,
  version: number,
): Promise<StoredVersion | null> {
  const [row] = await db<(PolicyVersion & { file: string | null; definition: unknown })[]>`
    select ${versionColumns(db)}, source as file, definition
    from policy_versions
    where org_id = ${orgId}
      and policy_id = ${policyId}
      and version = ${version}`
  return row ? { ...row, definition: Check(PolicyDefinition, row.definition) ? row.definition : null } : null
}

function versionColumns(db: Db) {
  return db`version, mode, reason, created_at,
    case when principal_type is not null then
      json_build_object('type', principal_type, 'id', principal_id, 'name', principal_name)
    end as changed_by`
}

const OLD_SCOPES_MAX = 100

/**
 * Policies of all organizations whose version in force was stored before policies said what they
 * look at (ci-evidence §8.16), by name. `path` is null for a policy of the organization.
 */
export async function listOldScopes(db: Db): Promise<{ org_id: string; name: string; path: string | null }[]> {
  return db<{ org_id: string; name: string; path: string | null }[]>`
    select policy.org_id, policy.name, policy.path
    from policies policy
    join policy_versions stored
      on stored.org_id = policy.org_id and stored.policy_id = policy.id and stored.version = policy.version
    where policy.removed_at is null
      and not stored.definition ? 'scope'
    order by policy.org_id, policy.name, policy.path
    limit ${OLD_SCOPES_MAX}`
}

/**
 * SQL: the SHA-256 of a version's definition, in hexadecimal digits; null if there is no such
 * version. `policy` is an alias of JSON with `id` and `version`.
 */
export function buildPolicyHash(db: Db, orgId: string, policy: string) {
  return db`(
    select encode(stored.content_hash, 'hex')
    from ${buildVersion(db, orgId, policy)}
  )`
}

/**
 * SQL: whether a rule of a version accepts evidence of every lane; null if there is no such
 * version. `policy` as above.
 */
export function buildAcceptsAnyTrust(db: Db, orgId: string, policy: string) {
  return db`(
    select jsonb_path_exists(stored.definition, '$.engine.**.trust ? (@ == "any")')
    from ${buildVersion(db, orgId, policy)}
  )`
}

function buildVersion(db: Db, orgId: string, policy: string) {
  return db`policy_versions stored
    where stored.org_id = ${buildAverageId(db, orgId)}
      and stored.policy_id = case when ${db(policy)} ->> 'id' ~ ${UUID_PATTERN} then (${db(policy)} ->> 'id')::uuid end
      and stored.version = (${db(policy)} ->> 'version')::int`
}
