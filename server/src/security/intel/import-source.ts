import type { Tx } from '../../platform/db/sql.ts'
import type { Copy, CopyValue } from '../../platform/db/table-copy.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { type EpssScore, parseEpss } from './epss.parser.ts'
import { type FileFacts, IntelError, type ReadFile } from './intel-file.ts'
import {
  type Changes,
  copyRecords,
  type FullSourceTable,
  lockSource,
  type SourceName,
  updateSource,
  upsertRecords,
} from './intel-source.store.ts'
import { type KevEntry, parseKev } from './kev.parser.ts'
import { readIntelFile, withFileName } from './read-intel-file.ts'

/**
 * What an import did. `as_of` is the date of the stored data, `records` the number of records read.
 */
export type ImportOutcome = Changes & { as_of: string; records: number; unchanged: number }

/** What was read and changed. `stored` counts the source's records in the database. */
type Imported = FileFacts & { read: number; stored: number; changes: Changes }

/**
 * Imports a source in one transaction, which records the import and publishes `intelImported`. A
 * failed import changes nothing. `apply` gets the date of the data that is stored.
 */
export function importSource(
  { sql, clock }: Services,
  source: SourceName,
  apply: (tx: Tx, storedAsOf: Date | null) => Promise<Imported>,
): Promise<ImportOutcome> {
  return sql.begin(async (tx) => {
    const storedAsOf = await lockSource(tx, source)
    const { read, stored, changes, ...facts } = await apply(tx, storedAsOf)
    await updateSource(tx, { source, ...facts, records: stored }, clock.now())
    await publish(tx, intelImported, { source })
    return {
      as_of: formatDate(facts.as_of),
      records: read,
      ...changes,
      unchanged: read - changes.added - changes.changed,
    }
  })
}

/** The calendar date of a time, in UTC. */
function formatDate(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Prints one line of an import's progress. */
export type PrintLine = (line: string) => void

const PRINTED_EVERY = 50_000
const formatCount = new Intl.NumberFormat('en').format

/**
 * Counts the records that were read and prints the count from time to time: `Read 300,000 EPSS
 * scores`.
 */
export class ReadingProgress {
  readonly #noun: string
  readonly #print: PrintLine
  #records = 0
  #printed = 0

  constructor(noun: string, print: PrintLine) {
    this.#noun = noun
    this.#print = print
  }

  get records(): number {
    return this.#records
  }

  add(records: number): void {
    this.#records += records
    if (this.#records - this.#printed < PRINTED_EVERY) return
    this.#printed = this.#records
    this.#print(`Read ${formatCount(this.#records)} ${this.#noun}`)
  }

  finish(): void {
    this.#print(`Read all ${formatCount(this.#records)} ${this.#noun}`)
  }
}

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
  parse: (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<Row[], ReadFile>
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
  return withFileName(path, () =>
    importSource(services, source.name, async (tx, storedAsOf) => {
      const incoming = await copyRecords(tx, source, (copy) => copyFile(copy, source, path, progress))
      const { skipped, reasons, ...facts } = incoming.facts
      refuseOlder(facts.as_of, storedAsOf)
      if (skipped > 0) services.log.warn({ source: source.name, skipped, reasons }, 'Rows of a file were skipped')
      for (const reason of reasons) print(`Skipped: ${reason}`)
      const changes = await upsertRecords(incoming)
      return { ...facts, read: progress.records, stored: progress.records, changes }
    }),
  )
}

async function copyFile<Row extends Record<keyof Row, CopyValue>>(
  copy: Copy,
  { columns, parse }: FullSource<Row>,
  path: string,
  progress: ReadingProgress,
): Promise<ReadFile> {
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
    `The file is dated ${formatDate(asOf)}, which is older than the stored data (${formatDate(storedAsOf)}).`,
  )
}

/** What work of the system on intelligence waits for, in a slot of its own. */
export const INTELLIGENCE = 'intelligence'

/** Published by every import of vulnerability intelligence. It concerns all organizations. */
export const intelImported = defineEvent('security.intel.imported', {
  class: 'bulk',
  waitsFor: () => INTELLIGENCE,
  payload: definePayload({ source: text }),
  subject: ({ source }) => ({ type: 'intel_source', id: source }),
  updates: () => [update('finding'), update('issue')],
  once: () => 'any',
})
