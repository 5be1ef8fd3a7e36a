import { type AuditEntry, insertAuditEntry } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { findUserName, listOwnOrganizations } from './memberships.store.ts'

/**
 * Records what users do with their own account. An account belongs to no organization, so that the
 * entry is added to the audit log of each organization that the user can open, up to 100.
 */
export async function auditPerson(
  tx: Tx,
  userId: string,
  entry: Pick<AuditEntry, 'action' | 'object' | 'details'>,
  now: Date,
): Promise<void> {
  const name = (await findUserName(tx, userId)) ?? ''
  const principal = { type: 'user', id: userId, name } as const
  for (const { id } of await listOwnOrganizations(tx, userId)) {
    await insertAuditEntry(tx, id, { ...entry, principal, reason: null }, now)
  }
}
