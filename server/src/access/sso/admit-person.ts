import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { ssoRefused } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
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
import { deleteCredentials } from '../sign-in/account.store.ts'
import { updateSessionEnds } from '../sign-in/session.store.ts'
import { type SignInPlace, startSession } from '../sign-in/start-session.ts'
import { findUser, findUserByEmail, insertUser, type User } from '../user.store.ts'
import { auditPerson } from '../user.ts'
import { getVerifiedEmail, isAllowedDomain, type Provider, selectRole, selectUserName } from './provider.ts'
import { type Authenticated, createSettingsChangedError } from './provider-sign-in.ts'
import { findStoredProvider, findUserOfIdentity, insertIdentity } from './single-sign-on.store.ts'

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
  if (existing !== null) {
    const { id } = existing
    if (!ownsAccount(authenticated, existing, visitor)) await takeOver(tx, id, now)
    const details = { issuer: provider.issuer }
    await auditPerson(tx, id, { action: 'single_sign_on.connect', object: { type: 'user', id }, details }, now)
  }
  return { user, isNew: true, isCreated: existing === null }
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
    'An account with your email address exists. Sign in to it another way, then start single sign-on again to connect them.',
  disabled: 'Your account is disabled.',
  no_role: 'Your identity provider gives you no role in the organization.',
  not_a_member: 'You are not a member of the organization. Ask for an invitation.',
}

/** Why a person whom a provider has authenticated is not signed in. */
type Refusal = keyof typeof MESSAGES

/** The error 403 `sso_refused` with its reason. */
function createRefusedError(reason: Refusal): ApiError {
  return ssoRefused(MESSAGES[reason], reason)
}
