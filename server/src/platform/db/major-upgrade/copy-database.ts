import { copyTable } from '../copy-out.ts'
import { fillCopy, openCopy } from '../copy-rows.ts'
import { type DatabaseAddress, openSql, type Sql, type Tx } from '../sql.ts'
import { copySequences, digestTable, listTables, refuseUnknownTables, type StoredTable } from './stored-tables.ts'

/** Receives how many rows of how many were copied. Both are estimates until the end. */
export type FollowCopy = (rows: number, total: number) => void

/**
 * Copies all rows of a database to one with the same tables on another server, and compares both.
 * Returns the number of rows. Nobody else may use them.
 */
export async function copyDatabase(from: DatabaseAddress, to: DatabaseAddress, follow: FollowCopy): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const [source, target] = [open(from), open(to)]
  opened.defer(() => Promise.all([source.end(), target.end()]).then(() => {}))
  await source`set default_transaction_read_only = on`
  const tables = await listTables(source)
  refuseUnknownTables(tables, await listTables(target))
  const rows = await target.begin((tx) => copyTables(source, tx, tables, follow))
  await copySequences(source, target)
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
  const total = tables.reduce((sum, { rows }) => sum + rows, 0)
  let copied = 0
  for (const table of tables) {
    await copyRows(from, tx, table)
    copied += await compare(from, tx, table)
    follow(copied, total)
  }
  return copied
}

async function copyRows(from: Sql, tx: Tx, table: StoredTable): Promise<void> {
  const { bytes } = copyTable(from, table)
  const copy = await openCopy(tx, table.name, table.columns)
  await fillCopy(copy, async () => {
    for await (const chunk of bytes) await copy.writeBytes(chunk)
  })
}

/** Returns the number of rows. */
async function compare(from: Sql, tx: Tx, table: StoredTable): Promise<number> {
  const [before, after] = await Promise.all([digestTable(from, table), digestTable(tx, table)])
  if (before.rows === after.rows && before.sum === after.sum) return after.rows
  throw new Error(`The copy of ${table.name} differs: it has ${after.rows} rows instead of ${before.rows}`)
}
