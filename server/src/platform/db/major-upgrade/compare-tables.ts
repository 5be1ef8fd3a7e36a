import type { Db } from '../sql.ts'
import type { StoredTable } from '../stored-tables.ts'

/** Throws if a table of the old database has no counterpart, because its data would be lost. */
export function checkTablesAreKnown(before: StoredTable[], after: StoredTable[]): void {
  const known = new Map(after.map(({ name, columns }) => [name, columns.toSorted().join()]))
  const unknown = before.filter(({ name, columns }) => known.get(name) !== columns.toSorted().join())
  if (unknown.length === 0) return
  const names = unknown.map(({ name }) => name).join(', ')
  throw new Error(`The database has tables that are not those of Shiplock: ${names}. Move them to another database.`)
}

/**
 * The number of rows, and a sum over the hashes of all of them, which does not depend on their
 * order.
 */
export async function computeTableDigest(
  sql: Db,
  { name, columns }: StoredTable,
): Promise<{ rows: number; sum: string }> {
  const [digest] = await sql.unsafe<[{ rows: number; sum: string }]>(
    `select count(*) as rows,
       coalesce(sum(('x' || left(md5(row(${columns.join(', ')})::text), 15))::bit(60)::bigint), 0)::text as sum
     from ${name}`,
  )
  return digest
}
