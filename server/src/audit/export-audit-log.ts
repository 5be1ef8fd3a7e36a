import type { Clock } from '../platform/clock.ts'
import type { Sql } from '../platform/db/sql.ts'
import type { Page } from '../platform/http/lists.ts'
import { insertAuditEntry, type Principal } from './audit.store.ts'
import { CSV_HEADER, toCsvLine } from './audit-csv.ts'
import { type AuditFilter, listAuditEntries } from './audit-log.store.ts'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** What is exported. `page` has the time window; its `limit` is the number of entries per query. */
type AuditExport = { org_id: string; format: ExportFormat; page: Page; filter: AuditFilter }

/**
 * Records the export in the audit log, and returns its text in parts, newest entries first. Each
 * part is read when the client has taken the previous one, so that memory does not grow with the
 * log and no database connection waits for a slow client.
 */
export async function exportAuditLog(
  { sql, clock }: { sql: Sql; clock: Clock },
  asked: AuditExport,
  principal: Principal,
): Promise<AsyncGenerator<string>> {
  const { org_id, format, page, filter } = asked
  const details = { format, since: page.since, until: page.until, ...filter }
  const object = { type: 'organization', id: org_id }
  const entry = { principal, action: 'audit_log.export', object, reason: null, details }
  await sql.begin((tx) => insertAuditEntry(tx, org_id, entry, clock.now()))
  return exportedText(sql, asked)
}

async function* exportedText(sql: Sql, { org_id, format, page, filter }: AuditExport): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_HEADER
  const toLine = format === 'csv' ? (json: string) => toCsvLine(JSON.parse(json)) : (json: string) => `${json}\n`
  let after = page.after
  do {
    const rows = await listAuditEntries(sql, org_id, { ...page, after }, filter)
    const shown = rows.slice(0, page.limit)
    if (shown.length > 0) yield shown.map(({ json }) => toLine(json)).join('')
    after = rows.length > page.limit ? (shown.at(-1) ?? null) : null
  } while (after !== null)
}
