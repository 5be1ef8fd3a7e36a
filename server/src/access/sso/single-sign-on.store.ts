import type { Db, Tx } from '../../platform/db/sql.ts'
import type { AccountScope } from '../user.store.ts'
import type { AdmissionRules } from './provider.ts'

export type StoredProvider = AdmissionRules & {
  org_id: string
  issuer: string
  client_id: string
  sealed_client_secret: string
  created_at: Date
  updated_at: Date
}

export async function findStoredProvider(db: Db, orgId: string): Promise<StoredProvider | null> {
  const [row] = await db<StoredProvider[]>`
    select org_id, issuer, client_id, sealed_client_secret, email_domains, creates_accounts, default_role, role_claim,
      role_map, created_at, updated_at
    from single_sign_on
    where org_id = ${orgId}`
  return row ?? null
}

export async function upsertProvider(tx: Tx, provider: Omit<StoredProvider, 'created_at'>): Promise<void> {
  await tx`
    insert into single_sign_on (
      org_id, issuer, client_id, sealed_client_secret, email_domains, creates_accounts, default_role, role_claim,
      role_map, created_at, updated_at
    )
    values (
      ${provider.org_id}, ${provider.issuer}, ${provider.client_id}, ${provider.sealed_client_secret},
      ${[...provider.email_domains]}, ${provider.creates_accounts}, ${provider.default_role}, ${provider.role_claim},
      ${tx.json(provider.role_map as never)}, ${provider.updated_at}, ${provider.updated_at}
    )
    on conflict (org_id) do update
    set issuer = excluded.issuer, client_id = excluded.client_id,
      sealed_client_secret = excluded.sealed_client_secret, email_domains = excluded.email_domains,
      creates_accounts = excluded.creates_accounts, default_role = excluded.default_role,
      role_claim = excluded.role_claim, role_map = excluded.role_map, updated_at = excluded.updated_at`
}

/** Removes the provider of an organization. Returns false if there is none. */
export async function deleteProvider(tx: Tx, orgId: string): Promise<boolean> {
  const { count } = await tx`
    delete from single_sign_on
    where org_id = ${orgId}`
  return count === 1
}

/** A sign-in that a browser has started at a provider. */
export type SignInRequest = {
  org_id: string | null
  issuer: string
  nonce: string
  code_verifier: string
  next: string
  confirms_user_id: string | null
  /** Whether the identity is linked to the account of `confirms_user_id`, and no session starts. */
  links: boolean
}

type Keys = { state_sha256: Buffer; browser_sha256: Buffer }

/**
 * Bounds the table. A network has no limit of its own, which a stranger in it could use up: of too
 * many, each network keeps its newest, as many as all others.
 */
const OPEN_REQUESTS_MAX = 20_000
/** Some more are removed, so that a flood does not have them sorted for each request. */
const KEPT_REQUESTS_MAX = 18_000

/** Stores a request, and removes those that have expired, and some of too many. */
export async function insertSignInRequest(
  db: Db,
  request: SignInRequest & Keys & { network_hmac: Buffer },
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  await db`
    delete from sso_requests
    where expires_at <= ${now}
      or (
        (select count(*) from sso_requests) >= ${OPEN_REQUESTS_MAX}
        and state_sha256 in (
          select state_sha256
          from (
            select state_sha256, expires_at,
              row_number() over (partition by network_hmac order by expires_at desc) as age_rank
            from sso_requests
          ) ranked
          order by age_rank, expires_at desc
          offset ${KEPT_REQUESTS_MAX}
        )
      )`
  await db`
    insert into sso_requests (
      state_sha256, browser_sha256, org_id, issuer, nonce, code_verifier, next, confirms_user_id, links, network_hmac,
      expires_at
    )
    values (
      ${request.state_sha256}, ${request.browser_sha256}, ${request.org_id}, ${request.issuer}, ${request.nonce},
      ${request.code_verifier}, ${request.next}, ${request.confirms_user_id}, ${request.links},
      ${request.network_hmac}, ${expiresAt}
    )`
}

/** Removes and returns the request: of parallel calls, one gets it. */
export async function deleteSignInRequest(db: Db, keys: Keys, now: Date): Promise<SignInRequest | null> {
  const [row] = await db<SignInRequest[]>`
    delete from sso_requests
    where state_sha256 = ${keys.state_sha256}
      and browser_sha256 = ${keys.browser_sha256}
      and expires_at > ${now}
    returning org_id, issuer, nonce, code_verifier, next, confirms_user_id, links`
  return row ?? null
}

/** An identity at a provider. `org_id` is null for the provider of the server. */
type Identity = { org_id: string | null; issuer: string; subject: string }

/** Whose identity it is. `is_linked`: it signs in to the account, and was not unlinked. */
type IdentityOwner = { user_id: string; is_linked: boolean }

/** Until the transaction ends, the identity is not unlinked. */
export async function lockIdentityOwner(tx: Tx, { org_id, issuer, subject }: Identity): Promise<IdentityOwner | null> {
  const [row] = await tx<IdentityOwner[]>`
    select user_id, unlinked_at is null as is_linked
    from sso_identities
    where org_id is not distinct from ${org_id}
      and issuer = ${issuer}
      and subject = ${subject}
    for no key update`
  return row ?? null
}

/**
 * Links an identity to an account. Returns false if it belongs to another account, or the account
 * has another identity there.
 */
export async function upsertIdentity(
  tx: Tx,
  identity: Identity & { id: string; user_id: string },
  at: Date,
): Promise<boolean> {
  const { count } = await tx`
    insert into sso_identities (id, org_id, issuer, subject, user_id, created_at)
    values (
      ${identity.id}, ${identity.org_id}, ${identity.issuer}, ${identity.subject}, ${identity.user_id}, ${at}
    )
    on conflict do nothing`
  if (count === 1) return true
  const renewed = await tx`
    update sso_identities
    set unlinked_at = null, created_at = ${at}
    where org_id is not distinct from ${identity.org_id}
      and issuer = ${identity.issuer}
      and subject = ${identity.subject}
      and user_id = ${identity.user_id}`
  return renewed.count === 1
}

/**
 * Takes an identity from an account that is private to the organization and no member of it any
 * more, so that its owner can link it to another account. Returns false if there is none.
 */
export async function deleteAbandonedIdentity(tx: Tx, { org_id, issuer, subject }: Identity): Promise<boolean> {
  const { count } = await tx`
    delete from sso_identities identity
    using users person
    where identity.org_id = ${org_id}
      and identity.issuer = ${issuer}
      and identity.subject = ${subject}
      and person.id = identity.user_id
      and person.private_to = identity.org_id
      and not exists (select from members where org_id = identity.org_id and user_id = identity.user_id)`
  return count === 1
}

export type LinkedIdentity = {
  id: string
  organization: { slug: string; name: string }
  issuer: string
  created_at: Date
}

/** The identities at providers of organizations that sign in to an account, oldest first. */
export async function listIdentities(db: Db, { user_id, org_id }: AccountScope): Promise<LinkedIdentity[]> {
  return db<LinkedIdentity[]>`
    select identity.id, identity.issuer, identity.created_at,
      json_build_object('slug', org.slug, 'name', org.name) as organization
    from sso_identities identity
    join organizations org on org.id = identity.org_id
    where identity.user_id = ${user_id}
      and identity.unlinked_at is null
      ${org_id ? db`and identity.org_id = ${org_id}` : db``}
    order by identity.created_at, identity.id
    limit ${LISTED_MAX}`
}

const LISTED_MAX = 100

/** Returns what was unlinked; null if the account has no such identity of an organization. */
export async function updateIdentityUnlinked(
  tx: Tx,
  { user_id, org_id }: AccountScope,
  id: string,
  at: Date,
): Promise<{ org_id: string; issuer: string } | null> {
  const [row] = await tx<{ org_id: string; issuer: string }[]>`
    update sso_identities
    set unlinked_at = ${at}
    where id = ${id}
      and user_id = ${user_id}
      and unlinked_at is null
      and org_id ${org_id ? tx`= ${org_id}` : tx`is not null`}
    returning org_id, issuer`
  return row ?? null
}
