import type { Db, Tx } from '../../platform/db/sql.ts'
import type { FileFacts } from './intel-file.ts'

/** KEV and EPSS files are complete. OSV data arrives record by record. */
export type SourceName = 'kev' | 'epss' | 'osv'

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

export async function recordImport(tx: Tx, imported: ImportedSource, at: Date): Promise<void> {
  const { source, as_of, version, records } = imported
  await tx`
    update intel_sources
    set as_of = ${as_of}, version = ${version}, records = ${records}, imported_at = ${at}
    where source = ${source}`
}

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
    select source, ${asOfDate(db)} as as_of, version, records, imported_at
    from intel_sources
    order by source`
}

/** The date of a source's data. */
export function asOfDate(db: Db) {
  return db`to_char(as_of at time zone 'UTC', 'YYYY-MM-DD')`
}
