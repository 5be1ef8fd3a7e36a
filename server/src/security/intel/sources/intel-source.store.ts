import type { Db, Tx } from '../../../platform/db/sql.ts'
import type { SourceFacts, SourceName } from './intel-source.ts'

/**
 * Holds a source until the transaction ends, so that a second import of it waits. Returns what it is as of; null before
 * its first import.
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

/** Notes that a source was imported, and what it is as of now. */
export async function noteImport(tx: Tx, source: SourceName, facts: SourceFacts, records: number, at: Date) {
  await tx`
    update intel_sources
    set as_of = ${facts.as_of}, version = ${facts.version}, records = ${records}, imported_at = ${at}
    where source = ${source}`
}

export type SourceStatus = {
  source: SourceName
  as_of: string | null
  version: string | null
  records: number
  imported_at: Date | null
}

/** Every source, imported or not. */
export async function listSources(db: Db): Promise<SourceStatus[]> {
  return db<SourceStatus[]>`
    select source, ${asOfDate(db)} as as_of, version, records, imported_at
    from intel_sources
    order by source`
}

/** The day that a source is as of. */
export function asOfDate(db: Db) {
  return db`to_char(as_of at time zone 'UTC', 'YYYY-MM-DD')`
}
