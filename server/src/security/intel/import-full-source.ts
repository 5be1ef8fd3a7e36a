import type { Copy, CopyValue } from '../../platform/db/copy-rows.ts'
import type { Services } from '../../services.ts'
import { type EpssScore, parseEpss } from './epss.parser.ts'
import { copyRecords, type FullSourceTable, replaceRecords } from './full-source.store.ts'
import { dateOf, type ImportOutcome, importSource, type PrintLine, ReadingProgress } from './import-source.ts'
import { type FileFacts, IntelError } from './intel-file.ts'
import { type KevEntry, parseKev } from './kev.parser.ts'
import { namingFile, readIntelFile } from './read-intel-file.ts'

/** Imports CISA's catalog of known exploited vulnerabilities from a file. Throws IntelError. */
export function importKev(services: Services, path: string, print: PrintLine): Promise<ImportOutcome> {
  return importFullSource(services, KEV, path, print)
}

/** Imports a day's EPSS scores from a file, compressed with gzip or not. Throws IntelError. */
export function importEpss(services: Services, path: string, print: PrintLine): Promise<ImportOutcome> {
  return importFullSource(services, EPSS, path, print)
}

/** A source whose files are complete: what a file does not contain is removed. */
type FullSource<Row extends Record<keyof Row, CopyValue>> = {
  name: 'kev' | 'epss'
  /** What its records are called. */
  noun: string
  table: FullSourceTable['table']
  columns: readonly (keyof Row & string)[]
  parse: (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<Row[], FileFacts>
}

const KEV: FullSource<KevEntry> = {
  name: 'kev',
  noun: 'KEV entries',
  table: 'intel_kev',
  columns: ['cve_id', 'date_added', 'due_date', 'ransomware'],
  parse: parseKev,
}

const EPSS: FullSource<EpssScore> = {
  name: 'epss',
  noun: 'EPSS scores',
  table: 'intel_epss',
  columns: ['cve_id', 'score', 'percentile'],
  parse: parseEpss,
}

/** A file that is older than the stored data is refused, because it would undo a newer import. */
function importFullSource<Row extends Record<keyof Row, CopyValue>>(
  services: Services,
  source: FullSource<Row>,
  path: string,
  print: PrintLine,
): Promise<ImportOutcome> {
  const progress = new ReadingProgress(source.noun, print)
  return namingFile(path, () =>
    importSource(services, source.name, async (tx, storedAsOf) => {
      const incoming = await copyRecords(tx, source, (copy) => copyFile(copy, source, path, progress))
      refuseOlder(incoming.facts.as_of, storedAsOf)
      const changes = await replaceRecords(incoming)
      return { ...incoming.facts, read: progress.records, stored: progress.records, changes }
    }),
  )
}

async function copyFile<Row extends Record<keyof Row, CopyValue>>(
  copy: Copy,
  { columns, parse }: FullSource<Row>,
  path: string,
  progress: ReadingProgress,
): Promise<FileFacts> {
  const batches = parse(readIntelFile(path))
  let step = await batches.next()
  for (; !step.done; step = await batches.next()) {
    await copy.write(step.value.map((row) => columns.map((column) => row[column])))
    progress.add(step.value.length)
  }
  progress.finish()
  return step.value
}

function refuseOlder(asOf: Date, storedAsOf: Date | null): void {
  if (storedAsOf === null || asOf >= storedAsOf) return
  throw new IntelError(
    `The file is dated ${dateOf(asOf)}, which is older than the stored data (${dateOf(storedAsOf)}).`,
  )
}
