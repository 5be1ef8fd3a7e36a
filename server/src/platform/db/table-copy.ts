import { openCopyIn, readCopyOut } from './client/copy.ts'
import type { Db, Tx } from './sql.ts'
import type { StoredTable } from './stored-tables.ts'

/**
 * An open COPY, the fastest way to insert many rows. Its transaction cannot do anything else
 * meanwhile.
 */
export type Copy = {
  /** Resolves when PostgreSQL can accept more rows. */
  write(rows: readonly (readonly CopyValue[])[]): Promise<void>
  /** Writes rows whose fields are COPY text already. */
  writeLines(lines: readonly string[]): Promise<void>
  /** Writes any part of COPY text. */
  writeBytes(bytes: Uint8Array): Promise<void>
  /** Resolves when PostgreSQL has stored all rows. */
  end(): Promise<void>
  abort(reason: Error): Promise<void>
}

/**
 * Starts COPY … FROM STDIN in text format. `table` and `columns` must never come from input.
 * `frozen` is for tables that this transaction has emptied: their rows need no later vacuum.
 */
export async function openCopy(tx: Tx, table: string, columns: readonly string[], frozen?: 'frozen'): Promise<Copy> {
  const options = frozen ? ' with (freeze)' : ''
  const copy = await openCopyIn(tx.unsafe<object[]>(`copy ${table} (${columns.join(', ')}) from stdin${options}`))
  const writeLines = async (lines: readonly string[]) => {
    if (lines.length > 0) await copy.write(`${lines.join('\n')}\n`)
  }
  return {
    write: (rows) => writeLines(rows.map(copyFields)),
    writeLines,
    writeBytes: copy.write,
    end: copy.end,
    abort: copy.abort,
  }
}

const ROWS_AT_ONCE = 5000

/** Writes all rows and ends the COPY. */
export async function copyAll(copy: Copy, rows: Iterable<readonly CopyValue[]>): Promise<void> {
  let batch: (readonly CopyValue[])[] = []
  for (const row of rows) {
    if (batch.push(row) < ROWS_AT_ONCE) continue
    await copy.write(batch)
    batch = []
  }
  if (batch.length > 0) await copy.write(batch)
  await copy.end()
}

/** Fills a COPY and ends it. If filling it fails, the COPY is aborted. */
export async function writeCopy<Result>(copy: Copy, fill: (copy: Copy) => Promise<Result>): Promise<Result> {
  try {
    const result = await fill(copy)
    await copy.end()
    return result
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}

export type CopyValue = string | number | boolean | null | Buffer | readonly string[]

const NULL = '\\N'

/** Formats the fields of one row as COPY text ("COPY", "Text Format"), without the line break. */
export function copyFields(values: readonly CopyValue[]): string {
  return values.map(copyField).join('\t')
}

export function copyField(value: CopyValue): string {
  if (value === null) return NULL
  if (typeof value === 'string') return escapeField(value)
  if (typeof value !== 'object') return String(value)
  if (Buffer.isBuffer(value)) return copyBytes(value.toString('hex'))
  if (value.length === 0) return '{}'
  const elements = value.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
  return escapeField(`{${elements.join(',')}}`)
}

/** Formats bytes that are given in hex. */
export function copyBytes(hex: string | null): string {
  return hex === null ? NULL : `\\\\x${hex}`
}

const SPECIAL = /[\\\t\n\r]/
const EVERY_SPECIAL = /[\\\t\n\r]/g
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escapeField(text: string): string {
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (character) => ESCAPES[character] as string) : text
}

const LINE_BREAK = 10

/** COPY text of a table. `rows` counts what was read of `bytes`. */
type CopiedTable = { bytes: AsyncIterable<Uint8Array>; rows(): number }

/** Reads a table as COPY text, in which each row is one line ("COPY", "Text Format"). */
export function copyTable(
  db: Db,
  { name, columns, is_partitioned }: Pick<StoredTable, 'name' | 'columns' | 'is_partitioned'>,
): CopiedTable {
  const list = columns.join(', ')
  // COPY reads no partitions by the name of their table.
  const rows = is_partitioned ? `(select ${list} from ${name})` : `${name} (${list})`
  let count = 0
  const counted = async function* () {
    for await (const bytes of readCopyOut(db.unsafe<object[]>(`copy ${rows} to stdout`))) {
      count += countLines(bytes)
      yield bytes
    }
  }
  return { bytes: counted(), rows: () => count }
}

/** The number of rows that end in these bytes. */
export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1)) count += 1
  return count
}

/** Passes bytes on, and reports how many there were. */
export async function* measureBytes(
  content: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    count(chunk.length)
    yield chunk
  }
}
