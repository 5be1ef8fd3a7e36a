import type { Tx } from '../platform/db/sql.ts'
import { createUuid } from '../platform/ids.ts'

/**
 * Who made a change: an API key, a user, a policy, Shiplock itself, or an administrator at the
 * command line.
 */
export type Principal = {
  type: 'api_key' | 'user' | 'policy' | 'system' | 'command_line'
  id: string | null
  name: string
}

export const SYSTEM: Principal = { type: 'system', id: null, name: 'Shiplock' }
export const COMMAND_LINE: Principal = { type: 'command_line', id: null, name: 'command line' }

/** `action` has the form `object.verb`. `details` contain no secrets. */
export type AuditEntry = {
  principal: Principal
  action: string
  object: { type: string; id: string }
  reason: string | null
  details?: Record<string, unknown>
}

/** Who makes a change, and why. */
export type Author = Pick<AuditEntry, 'principal' | 'reason'>

/** An administrator at the command line, who gives no reason. */
export const OPERATOR: Author = { principal: COMMAND_LINE, reason: null }

/**
 * Adds an audit entry in the transaction of the audited change, so that neither is stored without
 * the other.
 */
export async function insertAuditEntry(tx: Tx, orgId: string, entry: AuditEntry, at: Date): Promise<void> {
  const { principal, action, object, reason, details = {} } = entry
  await tx`
    insert into audit_entries (
      org_id, id, at, principal_type, principal_id, principal_name, action, object_type, object_id, reason, details
    )
    values (
      ${orgId}, ${createUuid(at)}, ${at}, ${principal.type}, ${principal.id}, ${principal.name}, ${action},
      ${object.type}, ${object.id}, ${reason}, ${tx.json(details as never)}
    )`
}
