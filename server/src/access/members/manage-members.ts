import { insertAuditEntry } from '../../audit/audit.store.ts'
import { lastOrgAdmin, ownMembership, providerAccountTaken } from '../../errors/organizations.ts'
import { updateOrganizationName } from '../../organizations/organization.store.ts'
import { requireName } from '../../organizations/organization.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError, invalidRequest } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { findRole } from '../role.store.ts'
import { getRoleId, type Role, toStoredRole } from '../role.ts'
import { updateSessionEnds } from '../sign-in/session.store.ts'
import { type User, updateUserDisabled } from '../user.store.ts'
import { type Author, COMMAND_LINE_AUTHOR, lockMembers, requireCovers } from './author.ts'
import {
  deleteMember,
  deleteProviderAccount,
  findMember,
  findProviderAccounts,
  hasActiveAdmin,
  listOrganizationIds,
  lockOrganization,
  type Member,
  updateMemberDisabled,
  updateMemberRole,
  upsertProviderAccount,
} from './member.store.ts'

type Needs = Pick<Services, 'sql' | 'clock'>

/** A member and who changes them. */
type Target = { orgId: string; userId: string; author: Author }

/**
 * Gives a member another role. Throws 400, 404 `not_found`, 403 `own_membership` or
 * `insufficient_permission`, and 409 `last_org_admin`.
 */
export async function assignMemberRole(services: Needs, target: Target, roleId: string): Promise<void> {
  await changeMember(services, target, async (tx, member, held) => {
    const role = await requireRole(tx, target.orgId, roleId)
    requireCovers(held, role.permissions)
    const from = getRoleId(member)
    if (from === role.id) return null
    await updateMemberRole(tx, target.orgId, member.user_id, toStoredRole(role))
    return { action: 'member.change_role', details: { from, to: role.id } }
  })
}

/** Disables or enables a member in this organization. Throws as `assignMemberRole` does. */
export async function updateMemberAccess(services: Needs, target: Target, isEnabled: boolean): Promise<void> {
  await changeMember(services, target, async (tx, member) => {
    const disabledAt = isEnabled ? null : services.clock.now()
    await updateMemberDisabled(tx, target.orgId, member.user_id, disabledAt)
    return { action: isEnabled ? 'member.enable' : 'member.disable' }
  })
}

/**
 * Removes a member from an organization. The account remains. Throws as `assignMemberRole` does.
 */
export async function removeMember(services: Needs, target: Target): Promise<void> {
  await changeMember(services, target, async (tx, member) => {
    await deleteMember(tx, target.orgId, member.user_id)
    return { action: 'member.remove', details: { role: getRoleId(member) } }
  })
}

/**
 * Ends a person's own membership, and the sessions that the identity provider of the organization
 * has started for them. Throws 404, and 409 `last_org_admin`.
 */
export async function removeOwnMembership(
  { sql, clock }: Needs,
  orgId: string,
  { userId, name }: { userId: string; name: string },
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const member = await requireMember(tx, orgId, userId)
    await deleteMember(tx, orgId, member.user_id)
    await requireOneAdmin(tx, orgId, member)
    const now = clock.now()
    await updateSessionEnds(tx, { user_id: member.user_id, org_id: orgId }, null, now)
    const change = { action: 'member.leave', details: { role: getRoleId(member) } }
    const principal = { type: 'user', id: userId, name } as const
    await recordChange(tx, orgId, { author: { principal, userId }, member, change }, now)
  })
}

type Change = { action: string; details?: Record<string, unknown> } | null
type Work = (tx: Tx, member: Member, held: Awaited<ReturnType<typeof lockMembers>>) => Promise<Change>

/** Changes a member under the rules of all such changes, and records it. */
async function changeMember({ sql, clock }: Needs, { orgId, userId, author }: Target, work: Work): Promise<void> {
  await sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    if (userId === author.userId) throw ownMembership('membership')
    const member = await requireMember(tx, orgId, userId)
    requireCovers(held, member.permissions)
    const change = await work(tx, member, held)
    if (change === null) return
    await requireOneAdmin(tx, orgId, member)
    await recordChange(tx, orgId, { author, member, change }, clock.now())
  })
}

/** Throws 409 `last_org_admin` if a change of this member has left no active Org admin. */
async function requireOneAdmin(tx: Tx, orgId: string, before: Member): Promise<void> {
  const wasAdmin = before.is_active && before.built_in_role === 'org_admin'
  if (!wasAdmin || (await hasActiveAdmin(tx, orgId))) return
  throw lastOrgAdmin()
}

/**
 * Sets who a member is at a code host, or removes it (`login` is null). Members set their own
 * account once: who changes it could otherwise approve a deployment of their own run.
 */
export async function updateProviderAccount(
  { sql, clock }: Needs,
  { orgId, userId, author }: Target,
  { provider, login }: { provider: string; login: string | null },
): Promise<void> {
  await sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    const member = await requireMember(tx, orgId, userId)
    requireCovers(held, member.permissions)
    const known = (await findProviderAccounts(tx, orgId, userId)).find((account) => account.provider === provider)
    if (known?.login === login) return
    if (known && userId === author.userId) throw ownMembership('membership')
    if (login === null) {
      const removed = await deleteProviderAccount(tx, orgId, userId, provider)
      if (removed === null) throw createNotFoundError('provider account')
    } else {
      const account = { user_id: userId, provider, login }
      if (!(await upsertProviderAccount(tx, orgId, account, clock.now()))) throw providerAccountTaken()
    }
    const details = { provider, from: known?.login ?? null, to: login }
    const change = { action: login === null ? 'provider_account.remove' : 'provider_account.set', details }
    await recordChange(tx, orgId, { author, member, change }, clock.now())
  })
}

/** Changes the display name of an organization, and returns it. Throws 400. */
export async function renameOrganization(
  { sql, clock }: Needs,
  { orgId, author }: Omit<Target, 'userId'>,
  wanted: string,
): Promise<string> {
  const name = requireName(wanted)
  await sql.begin(async (tx) => {
    await lockMembers(tx, orgId, author)
    await updateOrganizationName(tx, orgId, name)
    const object = { type: 'organization', id: orgId }
    const entry = {
      principal: author.principal,
      action: 'organization.rename',
      object,
      reason: null,
      details: { name },
    }
    await insertAuditEntry(tx, orgId, entry, clock.now())
  })
  return name
}

type Recorded = { author: Author; member: Member; change: NonNullable<Change> }

async function recordChange(tx: Tx, orgId: string, { author, member, change }: Recorded, now: Date): Promise<void> {
  const { action, details = {} } = change
  const object = { type: 'user', id: member.user_id }
  const entry = {
    principal: author.principal,
    action,
    object,
    reason: null,
    details: { email: member.email, ...details },
  }
  await insertAuditEntry(tx, orgId, entry, now)
}

async function requireMember(tx: Tx, orgId: string, userId: string): Promise<Member> {
  const member = await findMember(tx, orgId, userId)
  if (member === null) throw createNotFoundError('member')
  return member
}

/** The role that a request names. Throws 400 if the organization has no such role. */
export async function requireRole(tx: Tx, orgId: string, roleId: string): Promise<Role> {
  const role = await findRole(tx, orgId, roleId)
  if (role !== null) return role
  const message = 'is neither a built-in role nor the id of a custom role of the organization'
  throw invalidRequest(`The role "${roleId}" ${message}.`, {
    errors: [{ path: '/body/role', message }],
  })
}

/**
 * Disables or enables an account in all organizations, from the command line. Disabling ends all
 * sessions. Throws 409 `last_org_admin`.
 */
export async function updateAccountAccess(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { id, email }: User,
  isEnabled: boolean,
): Promise<void> {
  await sql.begin(async (tx) => {
    const memberships = await lockMemberships(tx, id)
    const now = clock.now()
    await updateUserDisabled(tx, id, isEnabled ? null : now)
    if (!isEnabled) await updateSessionEnds(tx, { user_id: id }, null, now)
    for (const [orgId, member] of memberships) {
      await requireOneAdmin(tx, orgId, member)
      const action = isEnabled ? 'account.enable' : 'account.disable'
      const entry = { action, object: { type: 'user', id }, reason: null, details: { email } }
      await insertAuditEntry(tx, orgId, { principal: COMMAND_LINE_AUTHOR.principal, ...entry }, now)
    }
  })
}

/** Locks the organizations of a user, always in the same order. */
async function lockMemberships(tx: Tx, userId: string): Promise<[string, Member][]> {
  const memberships: [string, Member][] = []
  for (const orgId of await listOrganizationIds(tx, userId)) {
    await lockOrganization(tx, orgId)
    const member = await findMember(tx, orgId, userId)
    if (member !== null) memberships.push([orgId, member])
  }
  return memberships
}
