import type { Tx } from '../../platform/db/sql.ts'
import type { Event } from '../../platform/queue/event.ts'
import { publish } from '../../platform/queue/event.ts'
import { payloadOf } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import type { FileFacts } from './intel-file.ts'
import { lockSource, recordImport, type SourceName } from './intel-source.store.ts'

/** Published by every import of vulnerability intelligence. It concerns all organizations. */
export const intelImported: Event<{ source: string }> = {
  name: 'security.intel.imported',
  payload: payloadOf('source'),
  once: () => 'any',
}

/** How many records an import changed. */
export type Changes = { added: number; changed: number; removed: number }

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
    await recordImport(tx, { source, ...facts, records: stored }, clock.now())
    await publish(tx, intelImported, { source })
    return { as_of: dateOf(facts.as_of), records: read, ...changes, unchanged: read - changes.added - changes.changed }
  })
}

/** The calendar date of a time, in UTC. */
export function dateOf(at: Date): string {
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
