import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { findMember, hasActiveAdmin, insertMember, type Member, updateMemberRole } from '../members/member.store.ts'
import { findRole } from '../roles/role.store.ts'
import { getRoleId, type Role, toStoredRole } from '../roles/role.ts'
import type { User } from '../users/user.store.ts'
import type { Authenticated } from './complete-sign-in.ts'
import { selectRole } from './provider.ts'
import { createRefusedError } from './refusal.ts'

/** The account of an identity. `isNew`: the identity signs in for the first time. */
export type AdmittedUser = { user: User; isNew: boolean; isCreated: boolean }

/**
 * Makes the user a member of the provider's organization at the first sign-in, if accounts are
 * made, and gives a member the role of their claims. A removed member does not come back by
 * themselves. Requires the lock of the members. Throws 403 `sso_refused`.
 */
export async function settleMembership(tx: Tx, authenticated: Authenticated, admitted: AdmittedUser, now: Date) {
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
