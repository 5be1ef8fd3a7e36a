import { buildPageEndCondition } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import type { AuditEntry, Principal } from './audit.store.ts'

/** Values that the columns of an audit entry must equal. */
export type AuditFilter = {
  principal_type?: string | undefined
  principal_id?: string | undefined
  action?: string | undefined
  object_type?: string | undefined
  object_id?: string | undefined
}

/** Returns one page of the audit log, newest first, and one more row when there is a next page. */
export async function listAuditEntries(db: Db, orgId: string, page: Page, filter: AuditFilter): Promise<PageRow[]> {
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
