import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { lastSignInMethod, ssoFailed, ssoRefused } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import {
  findMember,
  hasActiveAdmin,
  insertMember,
  lockOrganization,
  type Member,
  updateMemberRole,
} from '../members/member.store.ts'
import { findRole } from '../role.store.ts'
import { getRoleId, type Role, toStoredRole } from '../role.ts'
import { deleteCredentials, hasSignInMethod, lockUser } from '../sign-in/account.store.ts'
import { type FoundSession, updateSessionEnds } from '../sign-in/session.store.ts'
import { type SignInPlace, startSession } from '../sign-in/start-session.ts'
import {
  findUser,
  findUserByEmail,
  findUserOfOrganization,
  insertUser,
  isOtherMember,
  type User,
} from '../user.store.ts'
import { auditPerson } from '../user.ts'
import { getVerifiedEmail, isAllowedDomain, type Provider, selectRole, selectUserName } from './provider.ts'
import { type Authenticated, createSettingsChangedError } from './provider-sign-in.ts'
import {
  deleteAbandonedIdentity,
  findStoredProvider,
  lockIdentityOwner,
  updateIdentityUnlinked,
  upsertIdentity,
} from './single-sign-on.store.ts'

/** The browser that comes back, and who is signed in there. */
type SsoVisitor = { session: FoundSession | null; token: string | null; place: SignInPlace }

/**
 * Signs in a person whom a provider has authenticated, and returns the token of the session: null
 * if the person has linked the identity to the account of the present session. The role is decided
 * again each time. Throws 403 `sso_refused`.
 */
export async function admitPerson(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  authenticated: Authenticated,
  visitor: SsoVisitor,
): Promise<string | null> {
  const { provider, claims, request } = authenticated
  requireVisitor(authenticated, visitor)
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
    if (request.links) return null
    const signIn = { userId: admitted.user.id, method: 'sso', orgId: provider.org_id } as const
    return startSession(tx, { ...signIn, place: visitor.place, replaces: visitor.token, now })
  })
}

/**
 * The provider of an organization replaces no session but its own: otherwise, an organization could
 * sign people out of others with an address that they open. Who links an identity has to be signed
 * in to the account from the start to the end.
 */
function requireVisitor({ provider, request }: Authenticated, { session }: SsoVisitor): void {
  if (request.links) {
    const isOwner = session?.org_id === null && session.user_id === request.confirms_user_id
    if (!isOwner) throw ssoFailed('You are no longer signed in to the account that the identity is linked to.')
  } else if (!canReplace(provider, session)) throw createRefusedError('signed_in')
}

/** Whether a sign-in at the provider may replace the session of a browser. */
export function canReplace(
  { org_id }: Pick<Provider, 'org_id'>,
  session: Pick<FoundSession, 'org_id'> | null,
): boolean {
  return org_id === null || session === null || session.org_id === org_id
}

/** A removed or replaced provider starts no session after those that it started were ended. */
async function isStillSet(tx: Tx, { org_id, issuer, client_id }: Provider): Promise<boolean> {
  if (org_id === null) return true
  const stored = await findStoredProvider(tx, org_id)
  return stored?.issuer === issuer && stored.client_id === client_id
}

type Finding = { email: string | null; visitor: SsoVisitor; now: Date }

async function findAccount(tx: Tx, authenticated: Authenticated, finding: Finding): Promise<AdmittedUser> {
  const { provider, claims, request } = authenticated
  const { email, now } = finding
  const identity = { org_id: provider.org_id, issuer: provider.issuer, subject: claims.sub }
  const owner = await lockIdentityOwner(tx, identity)
  const isOther = owner !== null && request.links && owner.user_id !== request.confirms_user_id
  if (isOther && !(await deleteAbandonedIdentity(tx, identity))) throw createRefusedError('account_exists')
  if (owner?.is_linked && !isOther)
    return { user: (await findUser(tx, owner.user_id)) as User, isNew: false, isCreated: false }
  if (email === null) throw createRefusedError('email_not_verified')
  const existing = await findExisting(tx, authenticated, finding, email)
  const user = existing ?? (await createAccount(tx, authenticated, email, now))
  if (!(await upsertIdentity(tx, { ...identity, id: createUuid(now), user_id: user.id }, now)))
    throw createRefusedError('account_exists')
  if (existing !== null) await recordLink(tx, authenticated, { user: existing, finding })
  return { user, isNew: owner === null, isCreated: existing === null }
}

/**
 * The account that a new identity joins. The provider of the server is trusted for every account
 * with the address. The provider of an organization reaches accounts that are private to it, and
 * another one only if its owner links it. Throws 403 `sso_refused`.
 */
async function findExisting(
  tx: Tx,
  { provider, request }: Authenticated,
  { visitor }: Finding,
  email: string,
): Promise<User | null> {
  if (provider.org_id === null) return findUserByEmail(tx, email)
  const known = await findUserOfOrganization(tx, provider.org_id, email)
  const linking = request.links && visitor.session !== null ? await findUser(tx, visitor.session.user_id) : null
  const isInTheWay = linking === null ? !known?.is_private : known?.is_member
  if (known !== null && known.id !== linking?.id && isInTheWay) throw createRefusedError('account_exists')
  return linking ?? known
}

type Link = { user: User; finding: Finding }

/** What concerns one organization is in its audit log alone. */
async function recordLink(tx: Tx, authenticated: Authenticated, { user: { id }, finding }: Link): Promise<void> {
  const { provider, request } = authenticated
  const { visitor, now } = finding
  const isOwner = visitor.session?.user_id === id && request.confirms_user_id === id && visitor.session.org_id === null
  if (provider.org_id === null && !isOwner) await takeOver(tx, id, now)
  const details = { issuer: provider.issuer }
  const entry = { action: 'single_sign_on.connect', object: { type: 'user', id }, details }
  await auditPerson(tx, { user_id: id, org_id: provider.org_id }, entry, now)
}

/**
 * Removes the other ways to sign in. Whoever set them had a link to the account, but did not prove
 * that the address is theirs: they could have made the account before its owner came.
 */
async function takeOver(tx: Tx, userId: string, now: Date): Promise<void> {
  await deleteCredentials(tx, userId)
  await updateSessionEnds(tx, { user_id: userId }, null, now)
  await auditPerson(
    tx,
    { user_id: userId },
    { action: 'account.join_by_sso', object: { type: 'user', id: userId } },
    now,
  )
}

async function createAccount(tx: Tx, { provider, claims }: Authenticated, email: string, now: Date): Promise<User> {
  if (!provider.creates_accounts) throw createRefusedError('no_account')
  const user = await insertUser(tx, {
    id: createUuid(now),
    email,
    name: selectUserName(claims, email),
    created_at: now,
    private_to: provider.org_id,
  })
  if (user === null) throw createRefusedError('account_exists')
  return user
}

/** The account of an identity. `isNew`: the identity signs in for the first time. */
type AdmittedUser = { user: User; isNew: boolean; isCreated: boolean }

/**
 * Makes the user a member of the provider's organization at the first sign-in, if accounts are
 * made, and gives a member the role of their claims. A removed member does not come back by
 * themselves. Requires the lock of the members. Throws 403 `sso_refused`.
 */
async function settleMembership(tx: Tx, authenticated: Authenticated, admitted: AdmittedUser, now: Date) {
  const { provider, claims } = authenticated
  const { user, isNew, isCreated } = admitted
  const orgId = provider.joined_org_id
  if (orgId === null) return
  const member = await findMember(tx, orgId, user.id)
  if (member === null && (await isOtherMember(tx, orgId, user))) throw createRefusedError('account_exists')
  const roleId = selectRole(provider, claims)
  const role = roleId === null ? null : await findRole(tx, orgId, roleId)
  if (member !== null) return updateRole(tx, authenticated, { orgId, member, role }, now)
  if (isNew && provider.creates_accounts && role !== null) {
    await insertMember(tx, orgId, { user_id: user.id, ...toStoredRole(role), created_at: now })
    return record(tx, orgId, { userId: user.id, action: 'member.join_by_sso', details: { role: role.id } }, now)
  }
  if (provider.org_id !== null || isCreated) throw createRefusedError(role === null ? 'no_role' : 'not_a_member')
}

type Change = { orgId: string; member: Member; role: Role | null }

/** The only Org admin keeps the role. */
async function updateRole(tx: Tx, { provider }: Authenticated, { orgId, member, role }: Change, now: Date) {
  if (!member.is_active) {
    if (provider.org_id !== null) throw createRefusedError('disabled')
    return
  }
  if (provider.role_map.length === 0) return
  if (role === null) throw createRefusedError('no_role')
  const from = getRoleId(member)
  if (from === role.id) return
  await updateMemberRole(tx, orgId, member.user_id, toStoredRole(role))
  if (from === 'org_admin' && !(await hasActiveAdmin(tx, orgId))) {
    await updateMemberRole(tx, orgId, member.user_id, member)
    return
  }
  const details = { from, to: role.id, cause: 'single sign-on' }
  await record(tx, orgId, { userId: member.user_id, action: 'member.change_role', details }, now)
}

/**
 * Unlinks an identity from the account of a session, and ends the sessions that it has started.
 * Throws 404, and 409 `last_sign_in_method` if nobody could sign in to the account any more: the
 * provider signs in again to accounts that are private to its organization.
 */
export async function removeIdentity(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  session: FoundSession,
  id: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockUser(tx, session.user_id)
    const now = clock.now()
    const unlinked = await updateIdentityUnlinked(tx, session, id, now)
    if (unlinked === null) throw createNotFoundError('identity')
    if (!(await hasSignInMethod(tx, session.user_id))) throw lastSignInMethod('identity')
    const scope = { user_id: session.user_id, org_id: unlinked.org_id }
    await updateSessionEnds(tx, scope, null, now)
    const details = { issuer: unlinked.issuer }
    const object = { type: 'user', id: session.user_id }
    await auditPerson(tx, scope, { action: 'single_sign_on.unlink', object, details }, now)
  })
}

type Recorded = { userId: string; action: string; details: Record<string, unknown> }

async function record(tx: Tx, orgId: string, { userId, action, details }: Recorded, now: Date): Promise<void> {
  const entry = { principal: SYSTEM, action, object: { type: 'user', id: userId }, reason: null, details }
  await insertAuditEntry(tx, orgId, entry, now)
}

const MESSAGES = {
  email_not_verified: 'Your identity provider has not verified your email address.',
  domain_not_allowed: 'Addresses of your domain are not allowed to sign in this way.',
  no_account: 'You have no account, and single sign-on does not make accounts. Ask for an invitation.',
  account_exists:
    'Another account has this identity or this email address. Sign in to it another way, then link the identity in the settings of your account.',
  disabled: 'Your account is disabled.',
  no_role: 'Your identity provider gives you no role in the organization.',
  not_a_member: 'You are not a member of the organization. Ask for an invitation.',
  signed_in: 'You are signed in already. Link the identity in the settings of your account, or sign out first.',
}

/** Why a person whom a provider has authenticated is not signed in. */
type Refusal = keyof typeof MESSAGES

/** The error 403 `sso_refused` with its reason. */
function createRefusedError(reason: Refusal): ApiError {
  return ssoRefused(MESSAGES[reason], reason)
}
