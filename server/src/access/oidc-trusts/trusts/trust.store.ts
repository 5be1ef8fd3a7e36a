import type { Organization } from '../../../organizations/organization.store.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'
import { notifyAccessChanged } from '../../api-key.store.ts'
import type { Scope } from '../../scopes.ts'
import type { Conditions } from '../conditions.ts'
import type { SpeaksFor, TrustProvider, TrustTerms } from '../token-job.ts'

/** An organization accepts the tokens of an issuer that satisfy all conditions. */
export type Trust = TrustTerms &
  SpeaksFor & {
    id: string
    name: string
    issuer: string
    audience: string
    /** Which claims describe the job; null if they cannot be read. */
    provider: TrustProvider | null
    conditions: Conditions
    scopes: Scope[]
    created_by: string
    /** The person who created the trust; null if it was created at the command line. */
    created_by_user_id: string | null
    created_at: Date
    last_used_at: Date | null
    expires_at: Date | null
    revoked_at: Date | null
  }

/** A trust that is neither revoked nor, when it was read, expired. */
export type LiveTrust = Omit<NewTrust, 'created_by' | 'created_by_user_id'> & { organization: Organization }

export type NewTrust = Omit<Trust, 'last_used_at' | 'revoked_at'>

/** Trusts of all organizations that one token is compared with. */
const TRUSTS_COMPARED_MAX = 20_000
/** Trusts of an organization that are in use, and trusts in its list. */
export const TRUSTS_OF_ORGANIZATION_MAX = 1000

/** Inserts a trust and notifies all servers. */
export async function insertTrust(tx: Tx, orgId: string, trust: NewTrust): Promise<void> {
  await tx`
    insert into oidc_trusts (
      org_id, id, name, issuer, audience, provider, conditions, scopes, trusted_events, self_hosted, speaks_for,
      speaks_as, created_by, created_by_user_id, created_at, expires_at
    )
    values (
      ${orgId}, ${trust.id}, ${trust.name}, ${trust.issuer}, ${trust.audience}, ${trust.provider},
      ${tx.json(trust.conditions as never)}, ${trust.scopes}, ${trust.trusted_events}, ${trust.self_hosted},
      ${trust.speaks_for}, ${trust.as}, ${trust.created_by}, ${trust.created_by_user_id}, ${trust.created_at}, ${trust.expires_at}
    )`
  await notifyAccessChanged(tx)
}

/** What a token says about whom it is for. */
type TokenTarget = {
  issuer: string
  audiences: readonly string[]
  /** The origin of this server: `<origin>/<slug>` is the audience of one organization. */
  origin: string
}

/**
 * The live trusts of all organizations that a token can be for, oldest first. A trust whose
 * audience names another organization is left out.
 */
export async function listLiveTrusts(
  db: Db,
  { issuer, audiences, origin }: TokenTarget,
  now: Date,
): Promise<LiveTrust[]> {
  const own = `${origin}/`
  const slugs = audiences.filter((text) => text.startsWith(own)).map((text) => text.slice(own.length))
  return db<LiveTrust[]>`
    select trust.id, trust.name, trust.issuer, trust.audience, trust.provider, trust.conditions, trust.scopes,
      trust.trusted_events, trust.self_hosted, trust.speaks_for, trust.speaks_as as "as", trust.created_at,
      trust.expires_at,
      json_build_object('id', org.id, 'slug', org.slug, 'name', org.name, 'plan', org.plan) as organization
    from oidc_trusts trust
    join organizations org on org.id = trust.org_id
    where trust.issuer = ${issuer}
      and trust.audience = any(${[...audiences]})
      and trust.revoked_at is null
      and (trust.expires_at is null or trust.expires_at > ${now})
      and not exists (
        select
        from organizations other
        where other.slug = any(${slugs})
          and other.id <> trust.org_id
          and trust.audience = ${own} || other.slug
      )
    order by trust.created_at, trust.id
    limit ${TRUSTS_COMPARED_MAX}`
}

/** Counts the trusts of an organization that are neither revoked nor expired. */
export async function countLiveTrusts(db: Db, orgId: string, now: Date): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from oidc_trusts
    where org_id = ${orgId}
      and revoked_at is null
      and (expires_at is null or expires_at > ${now})`
  return row.count
}

/** The trusts of an organization, oldest first. The newest revoked ones follow those in use. */
export async function listTrusts(db: Db, orgId: string): Promise<Trust[]> {
  return db<Trust[]>`
    select ${trustColumns(db)}
    from oidc_trusts
    where org_id = ${orgId}
    order by revoked_at is not null, revoked_at desc, created_at, id
    limit ${TRUSTS_OF_ORGANIZATION_MAX}`
}

/** Locks a trust until the transaction ends. Returns null for an unknown id. */
export async function lockTrust(tx: Tx, id: string): Promise<(Trust & { org_id: string }) | null> {
  const [row] = await tx<(Trust & { org_id: string })[]>`
    select org_id, ${trustColumns(tx)}
    from oidc_trusts
    where id = ${id}
    for update`
  return row ?? null
}

/** Revokes a trust and notifies all servers. */
export async function updateTrustRevoked(tx: Tx, id: string, at: Date): Promise<void> {
  await tx`
    update oidc_trusts
    set revoked_at = ${at}
    where id = ${id}`
  await notifyAccessChanged(tx)
}

function trustColumns(db: Db) {
  return db`id, name, issuer, audience, provider, conditions, scopes, trusted_events, self_hosted, speaks_for,
    speaks_as as "as", created_by, created_by_user_id, created_at, last_used_at, expires_at, revoked_at`
}
