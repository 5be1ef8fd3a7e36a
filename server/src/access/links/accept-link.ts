import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { alreadyMember, linkNotValid, wrongAccount } from '../../errors/organizations.ts'
import { notSignedIn } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { insertMember, lockOrganization } from '../members/member.store.ts'
import { type Role, toStoredRole } from '../role.ts'
import { deleteCredentials } from '../sign-in/account.store.ts'
import { removeAccountGuesses } from '../sign-in/attempt-limit.ts'
import { registerPasskey, verifyNewPasskey } from '../sign-in/manage-passkeys.ts'
import { hashPassword, requireStrongPassword } from '../sign-in/password.ts'
import { updateSessionEnds } from '../sign-in/session.store.ts'
import { savePassword } from '../sign-in/set-password.ts'
import { type SignInPlace, startSession } from '../sign-in/start-session.ts'
import { findUserByEmail, insertUser, isOtherMember, type User } from '../user.store.ts'
import { auditPerson, requireEmail, requireUserName } from '../user.ts'
import { updateLinkClosed } from './link.store.ts'
import { type OpenLink, openLink } from './open-link.ts'

/** What the holder of a link sends. */
export type Acceptance = NewCredentials & {
  token: string
  /** Only for a setup link: the other links are about a known address. */
  email?: string | undefined
  /** Only for a new account. */
  name?: string | undefined
}

/** The user and the token of the present session, if any, and where they are. */
type Visitor = { userId: string | null; token: string | null; place: SignInPlace }

type Person = Pick<User, 'id' | 'email' | 'name'>

/** `sessionToken` is null if the visitor was signed in, and stays so. */
type Accepted = { user: Person; organization: string | null; sessionToken: string | null }

/**
 * Uses a link. A new account gets its first password or passkey, and a session. The user of an
 * existing account must be signed in. Throws 410 `link_not_valid`, 401 `not_signed_in`, 403
 * `wrong_account`, 409 `already_member`, and 400 for invalid fields.
 */
export async function acceptLink(services: Services, acceptance: Acceptance, visitor: Visitor): Promise<Accepted> {
  const { sql, clock, updates } = services
  const link = await openLink(sql, acceptance.token, clock.now())
  const use = { link, acceptance, visitor }
  if (link.kind === 'reset') return resetAccount(services, use)
  const email = requireLinkEmail(link, acceptance)
  const user = link.user ?? (await findUserByEmail(sql, email))
  const accepted = await (user === null ? joinAsNewUser(services, use, email) : joinAsUser(services, use, user))
  if (link.org_id !== null)
    updates.note(link.org_id, [update('member', accepted.user.id), update('invitation', link.id)])
  return accepted
}

type Use = { link: OpenLink; acceptance: Acceptance; visitor: Visitor }

async function joinAsUser({ sql, clock }: Services, { link, acceptance, visitor }: Use, user: User): Promise<Accepted> {
  if (visitor.userId === null) throw signInFirst()
  if (visitor.userId !== user.id) throw wrongAccount()
  await sql.begin(async (tx) => {
    const now = clock.now()
    const taken = await takeLink(tx, link, acceptance.token, now)
    await addMember(tx, taken, user, now)
  })
  return { user: toPerson(user), organization: link.organization?.slug ?? null, sessionToken: null }
}

/** The id of the link becomes the id of the account, so that a passkey can be made before it. */
async function joinAsNewUser(services: Services, use: Use, email: string): Promise<Accepted> {
  const { sql, clock } = services
  const { link, acceptance, visitor } = use
  const person = { id: link.id, email, name: requireUserName(acceptance.name ?? '') }
  const storeCredentials = await verifyNewCredentials(services, person, acceptance)
  return sql.begin(async (tx) => {
    const now = clock.now()
    const taken = await takeLink(tx, link, acceptance.token, now)
    const user = await insertUser(tx, { ...person, created_at: now })
    if (user === null) throw signInFirst()
    await addMember(tx, taken, user, now)
    await storeCredentials(tx, now)
    const sessionToken = await startSession(tx, { userId: user.id, ...toSignIn(visitor), now })
    return { user: toPerson(user), organization: link.organization?.slug ?? null, sessionToken }
  })
}

/** Replaces all ways to sign in, and ends all sessions: someone else may have had them. */
async function resetAccount(services: Services, { link, acceptance, visitor }: Use): Promise<Accepted> {
  const { sql, clock } = services
  const user = link.user
  if (user === null || user.disabled_at !== null) throw linkNotValid()
  const storeCredentials = await verifyNewCredentials(services, user, acceptance)
  return sql.begin(async (tx) => {
    const now = clock.now()
    await takeLink(tx, link, acceptance.token, now)
    await deleteCredentials(tx, user.id)
    await removeAccountGuesses(services, tx, user.id)
    await storeCredentials(tx, now)
    await updateSessionEnds(tx, { user_id: user.id }, null, now)
    await auditPerson(tx, { user_id: user.id }, { action: 'account.reset', object: { type: 'user', id: user.id } }, now)
    const sessionToken = await startSession(tx, { userId: user.id, ...toSignIn(visitor), now })
    return { user: toPerson(user), organization: null, sessionToken }
  })
}

/**
 * Checks the link again under the lock of the members, and closes it. Of parallel uses, one
 * succeeds.
 */
async function takeLink(tx: Tx, { org_id, id }: OpenLink, token: string, now: Date): Promise<OpenLink> {
  if (org_id !== null) await lockOrganization(tx, org_id)
  const link = await openLink(tx, token, now)
  if (!(await updateLinkClosed(tx, id, now))) throw linkNotValid()
  return link
}

async function addMember(tx: Tx, { org_id, id, kind, role }: OpenLink, user: User, now: Date): Promise<void> {
  const orgId = org_id as string
  const member = { user_id: user.id, ...toStoredRole(role as Role), created_at: now }
  const isMember = await isOtherMember(tx, orgId, user)
  if (isMember || !(await insertMember(tx, orgId, member)))
    throw alreadyMember('You are a member of the organization already.')
  const principal = { type: 'user', id: user.id, name: user.name } as const
  const object = kind === 'setup' ? { type: 'user', id: user.id } : { type: 'invitation', id }
  const details = { email: user.email, role: role?.id }
  const action = kind === 'setup' ? 'organization.set_up' : 'invitation.accept'
  await insertAuditEntry(tx, orgId, { principal, action, object, reason: null, details }, now)
}

function toSignIn({ place, token }: Visitor) {
  return { method: 'link', place, replaces: token } as const
}

function requireLinkEmail({ email }: OpenLink, acceptance: Acceptance): string {
  const given = acceptance.email === undefined ? null : requireEmail(acceptance.email)
  if (email === null && given === null) throw createInvalidFieldError('/body/email', 'is required')
  if (email !== null && given !== null && email !== given)
    throw createInvalidFieldError('/body/email', 'is not the invited email address')
  return (email ?? given) as string
}

function toPerson({ id, email, name }: User): Person {
  return { id, email, name }
}

function signInFirst(): ApiError {
  const message = 'An account with this email address exists. Sign in, then open the link again.'
  return notSignedIn(message)
}

/** How a person wants to sign in from now on: by a password, a passkey, or both. */
type NewCredentials = {
  password?: string | undefined
  passkey?: { name: string; credential: RegistrationResponseJSON } | undefined
}

type Owner = { id: string; email: string; name: string }

/** Stores the credentials of a user that is stored already. */
type StoreCredentials = (tx: Tx, now: Date) => Promise<void>

/**
 * Verifies and hashes outside of the transaction that stores the credentials, because this takes
 * long; a passkey that does not verify costs no hash. Throws 400 `weak_password`,
 * `passkey_refused`, or `invalid_request` if there are none.
 */
async function verifyNewCredentials(
  services: Services,
  owner: Owner,
  { password, passkey }: NewCredentials,
): Promise<StoreCredentials> {
  if (password === undefined && passkey === undefined) throw createInvalidFieldError('/body/password', 'is required')
  if (password !== undefined) requireStrongPassword(password, owner)
  const verified = passkey === undefined ? null : await verifyNewPasskey(services, owner.id, passkey.credential)
  const hash = password === undefined ? null : await hashPassword(password, owner.id)
  return async (tx, now) => {
    if (hash !== null) await savePassword(tx, owner.id, hash, { now })
    if (passkey && verified) await registerPasskey(tx, owner.id, { passkey: verified, name: passkey.name, now })
  }
}
