import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { lockOrganization } from '../members/member.store.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import { updateSessionEnds } from '../sessions/session-end.store.ts'
import { type SignInPlace, startSession } from '../sessions/start-session.ts'
import { deleteCredentials } from '../sign-in/account.store.ts'
import { findUser, findUserByEmail, insertUser, type User } from '../users/user.store.ts'
import { type Authenticated, createSettingsChangedError } from './complete-sign-in.ts'
import { findStoredProvider } from './provider.store.ts'
import { getVerifiedEmail, isAllowedDomain, type Provider, selectUserName } from './provider.ts'
import { createRefusedError } from './refusal.ts'
import { type AdmittedUser, settleMembership } from './settle-membership.ts'
import { findUserOfIdentity, insertIdentity } from './sign-in-request.store.ts'

/** The browser that comes back: the user of its unrestricted session, if any. */
type SsoVisitor = { userId: string | null; token: string | null; place: SignInPlace }

/**
 * Signs in a person whom a provider has authenticated, and returns the token of the session. The
 * role is decided again at each sign-in. Throws 403 `sso_refused`.
 */
export async function admitPerson(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  authenticated: Authenticated,
  visitor: SsoVisitor,
): Promise<string> {
  const { provider, claims } = authenticated
  const email = getVerifiedEmail(claims)
  if (!isAllowedDomain(provider, email))
    throw createRefusedError(email === null ? 'email_not_verified' : 'domain_not_allowed')
  return sql.begin(async (tx) => {
    if (provider.joined_org_id !== null) await lockOrganization(tx, provider.joined_org_id)
    if (!(await isStillSet(tx, provider))) throw createSettingsChangedError()
    const now = clock.now()
    const admitted = await findAccount(tx, authenticated, { email, visitor, now })
    if (admitted.user.disabled_at !== null) throw createRefusedError('disabled')
    await settleMembership(tx, authenticated, admitted, now)
    const signIn = { userId: admitted.user.id, method: 'sso', orgId: provider.org_id } as const
    return startSession(tx, { ...signIn, place: visitor.place, replaces: visitor.token, now })
  })
}

/** A removed or replaced provider starts no session after those that it started were ended. */
async function isStillSet(tx: Tx, { org_id, issuer, client_id }: Provider): Promise<boolean> {
  if (org_id === null) return true
  const stored = await findStoredProvider(tx, org_id)
  return stored?.issuer === issuer && stored.client_id === client_id
}

type Finding = { email: string | null; visitor: SsoVisitor; now: Date }

async function findAccount(
  tx: Tx,
  authenticated: Authenticated,
  { email, visitor, now }: Finding,
): Promise<AdmittedUser> {
  const { provider, claims } = authenticated
  const identity = { org_id: provider.org_id, issuer: provider.issuer, subject: claims.sub }
  const knownId = await findUserOfIdentity(tx, identity)
  if (knownId !== null) return { user: (await findUser(tx, knownId)) as User, isNew: false, isCreated: false }
  if (email === null) throw createRefusedError('email_not_verified')
  const existing = await findUserByEmail(tx, email)
  if (existing !== null && !mayJoin(authenticated, existing, visitor)) throw createRefusedError('account_exists')
  const user = existing ?? (await createAccount(tx, authenticated, email, now))
  if (!(await insertIdentity(tx, { ...identity, id: createUuid(now), user_id: user.id }, now)))
    throw createRefusedError('account_exists')
  if (existing !== null && !ownsAccount(authenticated, existing, visitor)) await takeOver(tx, existing.id, now)
  if (existing !== null) await recordConnection(tx, existing, authenticated, now)
  return { user, isNew: true, isCreated: existing === null }
}

function recordConnection(tx: Tx, { id }: User, { provider }: Authenticated, now: Date): Promise<void> {
  const details = { issuer: provider.issuer }
  return auditPerson(tx, id, { action: 'single_sign_on.connect', object: { type: 'user', id }, details }, now)
}

/**
 * The provider of the server is trusted for every account. The provider of an organization is not:
 * the owner of an existing account joins it by starting single sign-on while signed in.
 */
function mayJoin(authenticated: Authenticated, user: User, visitor: SsoVisitor): boolean {
  return authenticated.provider.org_id === null || ownsAccount(authenticated, user, visitor)
}

/** Whether the browser was signed in to the account from the start of the sign-in to its end. */
function ownsAccount({ request }: Authenticated, user: User, { userId }: SsoVisitor): boolean {
  return userId === user.id && request.confirms_user_id === user.id
}

/**
 * Removes the other ways to sign in. Whoever set them had a link to the account, but did not prove
 * that the address is theirs: they could have made the account before its owner came.
 */
async function takeOver(tx: Tx, userId: string, now: Date): Promise<void> {
  await deleteCredentials(tx, userId)
  await updateSessionEnds(tx, userId, null, now)
  await auditPerson(tx, userId, { action: 'account.join_by_sso', object: { type: 'user', id: userId } }, now)
}

async function createAccount(tx: Tx, { provider, claims }: Authenticated, email: string, now: Date): Promise<User> {
  if (!provider.creates_accounts) throw createRefusedError('no_account')
  const user = await insertUser(tx, {
    id: createUuid(now),
    email,
    name: selectUserName(claims, email),
    created_at: now,
  })
  if (user === null) throw createRefusedError('account_exists')
  return user
}
