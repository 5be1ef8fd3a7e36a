import { buildUnnestedRows } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { type Copy, openCopy, writeCopy } from '../../platform/db/table-copy.ts'
import type { FileFacts } from './intel-file.ts'

/** KEV and EPSS files are complete. OSV data arrives record by record. */
export const SOURCES = ['epss', 'kev', 'osv'] as const
export type SourceName = (typeof SOURCES)[number]

/**
 * Locks a source until the transaction ends, so that a second import of it waits. Returns the date
 * of the stored data; null before the first import.
 */
export async function lockSource(tx: Tx, source: SourceName): Promise<Date | null> {
  await tx`set local statement_timeout = 0`
  const [row] = await tx<[{ as_of: Date | null }]>`
    select as_of
    from intel_sources
    where source = ${source}
    for update`
  return row.as_of
}

/** What is stored of a source after an import. */
type ImportedSource = FileFacts & { source: SourceName; records: number }

export async function updateSource(tx: Tx, imported: ImportedSource, at: Date): Promise<void> {
  const { source, as_of, version, records } = imported
  await tx`
    update intel_sources
    set as_of = ${as_of}, version = ${version}, records = ${records}, imported_at = ${at}
    where source = ${source}`
}

/** How many records an import changed. */
export type Changes = { added: number; changed: number; removed: number }

type SourceStatus = {
  source: SourceName
  as_of: string | null
  version: string | null
  records: number
  imported_at: Date | null
}

/** Lists every source, imported or not. */
export async function listSources(db: Db): Promise<SourceStatus[]> {
  return db<SourceStatus[]>`
    select source, ${buildAsOfDate(db)} as as_of, version, records, imported_at
    from intel_sources
    order by source`
}

/** The date of a source's data. */
export function buildAsOfDate(db: Db) {
  return db`to_char(as_of at time zone 'UTC', 'YYYY-MM-DD')`
}

/**
 * Keeps the stored intelligence unchanged until the transaction ends: an import that would change
 * it waits. So when an import commits, every issue that was grouped by the data before it is
 * visible to the job that follows the import.
 */
export async function lockIntel(tx: Tx): Promise<void> {
  await tx`lock table vulnerability_aliases, intel_kev, intel_epss in row share mode`
}

/**
 * Waits for the transactions that have locked a table of intelligence, and makes others wait until
 * this transaction ends. Readers do not wait.
 */
export async function lockIntelTable(
  tx: Tx,
  table: 'vulnerability_aliases' | 'intel_kev' | 'intel_epss',
): Promise<void> {
  await tx`lock table ${tx(table)} in exclusive mode`
}

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
  const facts = await writeCopy(await openCopy(tx, 'incoming_records', columns), fill)
  return { tx, table, columns, facts, holds: 'incoming records' }
}

/**
 * Replaces the stored records with the incoming ones. Equal records are not written. Waits for
 * transactions that have locked the table (`intel-hold.store.ts`).
 */
export async function upsertRecords({ tx, table, columns }: IncomingRecords<unknown>): Promise<Changes> {
  await tx`analyze incoming_records`
  await lockIntelTable(tx, table)
  const list = tx`${tx(columns)}`
  const incoming = await buildUnnestedRows(tx, 'incoming_records', 'incoming', columns)
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
