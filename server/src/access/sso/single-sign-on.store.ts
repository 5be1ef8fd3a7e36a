import type { Db, Tx } from '../../platform/db/sql.ts'
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
}

type Keys = { state_sha256: Buffer; browser_sha256: Buffer }

/** Bounds the table, without a limit per network that a stranger in it could use up. */
const OPEN_REQUESTS_MAX = 20_000

/** Stores a request, and removes those that have expired, and the oldest of too many. */
export async function insertSignInRequest(
  db: Db,
  request: SignInRequest & Keys,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  await db`
    delete from sso_requests
    where expires_at <= ${now}
      or state_sha256 in (
        select state_sha256
        from sso_requests
        order by expires_at desc
        offset ${OPEN_REQUESTS_MAX - 1}
      )`
  await db`
    insert into sso_requests (
      state_sha256, browser_sha256, org_id, issuer, nonce, code_verifier, next, confirms_user_id, expires_at
    )
    values (
      ${request.state_sha256}, ${request.browser_sha256}, ${request.org_id}, ${request.issuer}, ${request.nonce},
      ${request.code_verifier}, ${request.next}, ${request.confirms_user_id}, ${expiresAt}
    )`
}

/** Removes and returns the request: of parallel calls, one gets it. */
export async function deleteSignInRequest(db: Db, keys: Keys, now: Date): Promise<SignInRequest | null> {
  const [row] = await db<SignInRequest[]>`
    delete from sso_requests
    where state_sha256 = ${keys.state_sha256}
      and browser_sha256 = ${keys.browser_sha256}
      and expires_at > ${now}
    returning org_id, issuer, nonce, code_verifier, next, confirms_user_id`
  return row ?? null
}

/** An identity at a provider. `org_id` is null for the provider of the server. */
type Identity = { org_id: string | null; issuer: string; subject: string }

/** The account that an identity signs in to. */
export async function findUserOfIdentity(db: Db, { org_id, issuer, subject }: Identity): Promise<string | null> {
  const [row] = await db<{ user_id: string }[]>`
    select user_id
    from sso_identities
    where org_id is not distinct from ${org_id}
      and issuer = ${issuer}
      and subject = ${subject}`
  return row?.user_id ?? null
}

/**
 * Returns false if the identity signs in to an account, or the account has another identity there.
 */
export async function insertIdentity(
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
  return count === 1
}
