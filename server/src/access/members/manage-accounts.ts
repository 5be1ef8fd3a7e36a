import { insertAuditEntry } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { updateSessionEnds } from '../sessions/session-end.store.ts'
import { type User, updateUserDisabled } from '../users/user.store.ts'
import { COMMAND_LINE_AUTHOR } from './author.ts'
import { requireOneAdmin } from './manage-members.ts'
import { findMember, listOrganizationIds, lockOrganization, type Member } from './member.store.ts'

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
    if (!isEnabled) await updateSessionEnds(tx, id, null, now)
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
