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
