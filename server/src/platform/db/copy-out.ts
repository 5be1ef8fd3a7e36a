import type { Readable } from 'node:stream'
import type { Db } from './sql.ts'
import type { StoredTable } from './stored-tables.ts'

const LINE_BREAK = 10

/** COPY text of a table. `rows` counts what was read of `bytes`. */
export type CopiedTable = { bytes: AsyncIterable<Uint8Array>; rows(): number }

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
    for await (const bytes of copyOut(db, `copy ${rows} to stdout`)) {
      count += countLines(bytes)
      yield bytes
    }
  }
  return { bytes: counted(), rows: () => count }
}

/**
 * When its reader stops early, cancels the statement, so that its transaction can fail. The
 * connection is not to be used again.
 */
async function* copyOut(db: Db, statement: string): AsyncGenerator<Uint8Array> {
  const query = db.unsafe(statement)
  const stream: Readable = await query.readable()
  stream.on('error', () => {})
  let isDone = false
  try {
    yield* stream.iterator({ destroyOnReturn: false })
    isDone = true
    // postgres.js pauses its connection when the stream is full, and resumes it when more is read.
    // Nothing reads after the last rows: the end of the statement would never be seen.
    stream._read(0)
  } finally {
    if (!isDone) {
      query.cancel()
      stream.resume()
    }
  }
}

/** The number of rows that end in these bytes. */
export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1)) count += 1
  return count
}
