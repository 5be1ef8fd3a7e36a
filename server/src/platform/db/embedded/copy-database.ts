import { type DatabaseAddress, type Db, openSql, type Sql, type Tx } from '../sql.ts'
import { listAllTables, listSequences, type StoredTable, updateSequence } from '../stored-tables.ts'
import { copyTable, measureBytes, openCopy, writeCopy } from '../table-copy.ts'

/** Receives how many bytes of how many were copied. The total is an estimate. */
export type FollowCopy = (bytes: number, total: number) => void

/**
 * Copies all rows of a database to one with the same tables on another server, and compares both.
 * Returns the number of rows. Nobody else may use them.
 */
export async function copyDatabase(from: DatabaseAddress, to: DatabaseAddress, follow: FollowCopy): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const [source, target] = [open(from), open(to)]
  opened.defer(() => Promise.all([source.end(), target.end()]).then(() => {}))
  await source`set default_transaction_read_only = on`
  const tables = await listAllTables(source)
  checkTablesAreKnown(tables, await listAllTables(target))
  const rows = await target.begin((tx) => copyTables(source, tx, tables, follow))
  for (const sequence of await listSequences(source)) await updateSequence(target, sequence)
  await target`analyze`
  return rows
}

function open(address: DatabaseAddress): Sql {
  return openSql(address, { max: 1, applicationName: 'shiplock upgrade', statementTimeoutMs: 0, lasting: true })
}

async function copyTables(from: Sql, tx: Tx, tables: StoredTable[], follow: FollowCopy): Promise<number> {
  // The rows were checked when they were written: no foreign keys are checked and no triggers run.
  await tx`set local session_replication_role = replica`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`)
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  let [rows, done] = [0, 0]
  const count = (bytes: number) => {
    done += bytes
    follow(done, total)
  }
  for (const table of tables) {
    const { bytes } = copyTable(from, table)
    const copy = await openCopy(tx, table.name, table.columns)
    await writeCopy(copy, async () => {
      for await (const chunk of measureBytes(bytes, count)) await copy.writeBytes(chunk)
    })
    rows += await compare(from, tx, table)
  }
  return rows
}

/** Returns the number of rows. */
async function compare(from: Sql, tx: Tx, table: StoredTable): Promise<number> {
  const [before, after] = await Promise.all([computeTableDigest(from, table), computeTableDigest(tx, table)])
  if (before.rows === after.rows && before.sum === after.sum) return after.rows
  throw new Error(`The copy of ${table.name} differs: it has ${after.rows} rows instead of ${before.rows}`)
}

/** Throws if a table of the old database has no counterpart, because its data would be lost. */
function checkTablesAreKnown(before: StoredTable[], after: StoredTable[]): void {
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
async function computeTableDigest(sql: Db, { name, columns }: StoredTable): Promise<{ rows: number; sum: string }> {
  const [digest] = await sql.unsafe<[{ rows: number; sum: string }]>(
    `select count(*) as rows,
       coalesce(sum(('x' || left(md5(row(${columns.join(', ')})::text), 15))::bit(60)::bigint), 0)::text as sum
     from ${name}`,
  )
  return digest
}
