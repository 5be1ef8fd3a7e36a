import { type Copy, fillCopy, openCopy } from '../../platform/db/copy-rows.ts'
import { passedRows } from '../../platform/db/passed-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { awaitHolders } from './intel-hold.store.ts'
import type { Changes } from './import-source.ts'

/** A table with one record per CVE id, and all of its columns in the table's order. */
export type FullSourceTable = { table: 'intel_kev' | 'intel_epss'; columns: readonly string[] }

/**
 * The temporary table `incoming_records` contains all records of a file. It ends with the
 * transaction.
 */
type IncomingRecords<Facts> = FullSourceTable & { tx: Tx; facts: Facts; holds: 'incoming records' }

export async function copyRecords<Facts>(
  tx: Tx,
  { table, columns }: FullSourceTable,
  fill: (copy: Copy) => Promise<Facts>,
): Promise<IncomingRecords<Facts>> {
  await tx`create temporary table incoming_records (like ${tx(table)}) on commit drop`
  const facts = await fillCopy(await openCopy(tx, 'incoming_records', columns), fill)
  return { tx, table, columns, facts, holds: 'incoming records' }
}

/**
 * Replaces the stored records with the incoming ones. Equal records are not written. Waits for
 * transactions that have locked the table (`intel-hold.store.ts`).
 */
export async function replaceRecords({ tx, table, columns }: IncomingRecords<unknown>): Promise<Changes> {
  await tx`analyze incoming_records`
  await awaitHolders(tx, table)
  const list = tx`${tx(columns)}`
  const incoming = await passedRows(tx, 'incoming_records', 'incoming', columns)
  const [changes] = await tx<[Changes]>`
    with removed as (
      delete from ${tx(table)} stored
      where not exists (select from ${incoming()} where incoming.cve_id = stored.cve_id)
      returning 1
    ), changed as (
      update ${tx(table)} stored
      set (${list}) = row(incoming.*)
      from ${incoming()}
      where incoming.cve_id = stored.cve_id
        and row(incoming.*) is distinct from row(stored.*)
      returning 1
    ), added as (
      insert into ${tx(table)} (${list})
      select ${list}
      from ${incoming()}
      on conflict (cve_id) do nothing
      returning 1
    )
    select (select count(*) from added) as added, (select count(*) from changed) as changed,
      (select count(*) from removed) as removed`
  return changes
}
