import { readCopyOut } from './client/copy.ts'
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
