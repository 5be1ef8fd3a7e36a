import { defineExpiringRows, type Expiring } from '../platform/db/expiring-rows.ts'
import { buildPageEndCondition } from '../platform/db/page.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
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

/** Values that the columns of an audit entry must equal. */
export type AuditFilter = {
  principal_type?: string | undefined
  principal_id?: string | undefined
  action?: string | undefined
  object_type?: string | undefined
  object_id?: string | undefined
}

/** Returns one page of the audit log, newest first, and one more row when there is a next page. */
export function listAuditEntries(db: Db, orgId: string, page: Page, filter: AuditFilter) {
  return db<PageRow[]>`
    select entry.at as created_at, entry.id, ${entryJson(db)} as json
    from audit_entries entry
    where entry.org_id = ${orgId}
      and entry.at >= ${page.since}
      and ${buildPageEndCondition(db, page, { at: db`entry.at`, id: db`entry.id` })}
      ${equals(db, 'principal_type', filter)}
      ${equals(db, 'principal_id', filter)}
      ${equals(db, 'action', filter)}
      ${equals(db, 'object_type', filter)}
      ${equals(db, 'object_id', filter)}
    order by entry.at desc, entry.id desc
    limit ${page.limit + 1}`
}

function equals(db: Db, column: keyof AuditFilter, filter: AuditFilter) {
  const value = filter[column]
  return value === undefined ? db`` : db`and entry.${db(column)} = ${value}`
}

function entryJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select entry.id, rfc3339(entry.at) as at,
        json_build_object(
          'type', entry.principal_type, 'id', entry.principal_id, 'name', entry.principal_name
        ) as principal,
        entry.action, json_build_object('type', entry.object_type, 'id', entry.object_id) as object, entry.reason,
        entry.details
    ) item
  )`
}

const HISTORY_MAX = 1000

/** What was done to one object, as far as the objects' own pages show it. */
type HistoryEntry = { at: Date; action: string; principal: Principal; reason: string | null }

/** The audit entries of one object, oldest first. */
export async function listHistory(db: Db, orgId: string, object: AuditEntry['object']): Promise<HistoryEntry[]> {
  return db<HistoryEntry[]>`
    select at, action, reason,
      json_build_object('type', principal_type, 'id', principal_id, 'name', principal_name) as principal
    from audit_entries
    where org_id = ${orgId}
      and object_id = ${object.id}
      and object_type = ${object.type}
    order by at, id
    limit ${HISTORY_MAX}`
}

const entries = defineExpiringRows({
  kind: 'audit_entries',
  table: 'audit_entries',
  key: ['id'],
  order: 'at',
  isExpired: (db, { before }) => db`item.at < ${before}`,
})

/**
 * Entries that are older than the retention of the audit log. The database refuses every other
 * deletion of an entry, except with its organization.
 */
export const expiringAuditEntries: Expiring = {
  ...entries,
  async remove(tx, batch) {
    await tx`select set_config('shiplock.audit_expired_before', ${batch.before.toISOString()}, true)`
    return entries.remove(tx, batch)
  },
}
