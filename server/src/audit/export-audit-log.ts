import type { Clock } from '../platform/clock.ts'
import type { Sql } from '../platform/db/sql.ts'
import type { Page } from '../platform/http/lists.ts'
import { type AuditFilter, insertAuditEntry, listAuditEntries, type Principal } from './audit.store.ts'

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

/** An entry of the audit log, as it is sent. */
export type ShownEntry = {
  id: string
  at: string
  principal: { type: string; id: string | null; name: string }
  action: string
  object: { type: string; id: string }
  reason: string | null
  details: Record<string, unknown>
}

const COLUMNS: [name: string, value: (entry: ShownEntry) => string | null][] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['principal_type', ({ principal }) => principal.type],
  ['principal_id', ({ principal }) => principal.id],
  ['principal_name', ({ principal }) => principal.name],
  ['action', ({ action }) => action],
  ['object_type', ({ object }) => object.type],
  ['object_id', ({ object }) => object.id],
  ['reason', ({ reason }) => reason],
  ['details', ({ details }) => JSON.stringify(details)],
]

/**
 * The start of a text that a spreadsheet runs as a formula. Programs that split at semicolons, tabs
 * or line ends see a start after each of them, also inside of quotes.
 */
const FORMULA_START = /(^|[;\t\r\n])([^\S\t\r\n]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g
/** Some spreadsheets drop white space at the start of a field. */
const LEADING_BREAK = /^(?=[\t\r\n])/

/** The first line of the file, with the names of the columns. */
export const CSV_HEADER = toLine(COLUMNS.map(([name]) => name))

/** An entry as a line of a CSV file (RFC 4180). `details` is JSON text. */
export function toCsvLine(entry: ShownEntry): string {
  return toLine(COLUMNS.map(([, value]) => value(entry)))
}

function toLine(values: (string | null)[]): string {
  return `${values.map((value) => (value === null ? '' : toField(value))).join(',')}\r\n`
}

/** A quoted field. An apostrophe keeps text of others from being run as a formula. */
function toField(value: string): string {
  const harmless = value.replace(FORMULA_START, "$1'$2").replace(LEADING_BREAK, "'")
  return `"${harmless.replaceAll('"', '""')}"`
}
