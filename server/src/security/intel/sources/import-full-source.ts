import type { Copy } from '../../../platform/db/copy-rows.ts'
import type { CopyValue } from '../../../platform/db/copy-text.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { publish } from '../../../platform/queue/event.ts'
import type { Services } from '../../../services.ts'
import { IntelError } from '../intel-error.ts'
import { intelImported } from './intel-imported.event.ts'
import { lockSource, noteImport } from './intel-source.store.ts'
import type { Changes, ImportOutcome, SourceFacts, SourceName } from './intel-source.ts'
import { ReadingProgress, type Tell } from './reading-progress.ts'

/** A source whose file holds all that it knows, and how it is read and stored. */
export type FullSource<Row> = {
  name: SourceName
  /** What its rows are called. */
  what: string
  parse: (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<Row[], SourceFacts>
  copy: (tx: Tx) => Promise<Copy>
  toRow: (row: Row) => CopyValue[]
  merge: (tx: Tx) => Promise<Changes>
}

/**
 * Makes what is stored of a source what its file holds, in one transaction: a file that turns out broken, or is older
 * than what is stored, leaves everything as it was. Throws IntelError.
 */
export async function importFullSource<Row>(
  services: Services,
  source: FullSource<Row>,
  bytes: AsyncIterable<Uint8Array>,
  tell: Tell,
): Promise<ImportOutcome> {
  const progress = new ReadingProgress(source.what, tell)
  return services.sql.begin(async (tx) => {
    const storedAsOf = await lockSource(tx, source.name)
    const facts = await copyFile(tx, source, bytes, progress)
    refuseOlder(facts.as_of, storedAsOf)
    const { records } = progress
    const changes = await source.merge(tx)
    await noteImport(tx, source.name, facts, records, services.clock.now())
    await publish(tx, intelImported, { source: source.name })
    const unchanged = records - changes.added - changes.changed
    return { as_of: dayOf(facts.as_of), records, ...changes, unchanged }
  })
}

async function copyFile<Row>(
  tx: Tx,
  source: FullSource<Row>,
  bytes: AsyncIterable<Uint8Array>,
  progress: ReadingProgress,
): Promise<SourceFacts> {
  const copy = await source.copy(tx)
  try {
    const batches = source.parse(bytes)
    let step = await batches.next()
    for (; !step.done; step = await batches.next()) {
      await copy.write(step.value.map(source.toRow))
      progress.add(step.value.length)
    }
    await copy.end()
    progress.finished()
    return step.value
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}

function refuseOlder(asOf: Date, storedAsOf: Date | null): void {
  if (storedAsOf === null || asOf >= storedAsOf) return
  throw new IntelError(`It is as of ${dayOf(asOf)}; what is stored is newer, as of ${dayOf(storedAsOf)}.`)
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
