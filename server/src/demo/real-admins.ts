import { insertMember, listActiveAdmins } from '../access/members/member.store.ts'
import { COMMAND_LINE, insertAuditEntry } from '../audit/audit.store.ts'
import type { Sql } from '../platform/db/sql.ts'

/**
 * Makes the administrators of this server Org admins of the example data, so that they can open it.
 * Those who have a role there keep it.
 */
export async function enrollRealAdmins(sql: Sql, orgId: string, now: Date): Promise<void> {
  for (const user_id of await listActiveAdmins(sql)) {
    const member = { user_id, built_in_role: 'org_admin' as const, custom_role_id: null, created_at: now }
    await sql.begin(async (tx) => {
      if (!(await insertMember(tx, orgId, member))) return
      const entry = { principal: COMMAND_LINE, action: 'member.add', object: { type: 'member', id: user_id } }
      await insertAuditEntry(tx, orgId, { ...entry, reason: null, details: { role: 'org_admin' } }, now)
    })
  }
}
