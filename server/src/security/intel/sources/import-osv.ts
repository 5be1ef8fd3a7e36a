import { hash } from 'node:crypto'
import type { Copy } from '../../../platform/db/copy-rows.ts'
import type { CopyValue } from '../../../platform/db/copy-text.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { publish } from '../../../platform/queue/event.ts'
import type { Services } from '../../../services.ts'
import { regroupAliases } from '../aliases/regroup-aliases.ts'
import { IntelError } from '../intel-error.ts'
import { ADVISORY_COLUMNS, copyAdvisories, mergeAdvisories } from './advisory.store.ts'
import { intelImported } from './intel-imported.event.ts'
import { lockSource, noteImport } from './intel-source.store.ts'
import type { ImportOutcome } from './intel-source.ts'
import { namingTheFile } from './naming-the-file.ts'
import { type Advisory, parseOsv } from './osv.parser.ts'
import { readOsvFiles } from './read-osv-files.ts'
import { ReadingProgress, type Tell } from './reading-progress.ts'

const RECORDS_AT_ONCE = 200

/**
 * Imports OSV records from files, directories and zip files, in one transaction. A record replaces an older one of its id,
 * with what that one said of aliases; records that the files do not hold stay. Throws IntelError, and then nothing changed.
 */
export function importOsv(services: Services, paths: string[], tell: Tell): Promise<ImportOutcome> {
  const progress = new ReadingProgress('OSV records', tell)
  return services.sql.begin(async (tx) => {
    const storedAsOf = await lockSource(tx, 'osv')
    await copyRecords(tx, paths, progress)
    const { added, changed, stored, newest } = await mergeAdvisories(tx)
    await regroupAliases(tx)
    const asOf = later(storedAsOf, newest)
    await noteImport(tx, 'osv', { version: null, as_of: asOf }, stored, services.clock.now())
    await publish(tx, intelImported, { source: 'osv' })
    const { records } = progress
    const unchanged = records - added - changed
    return { as_of: asOf.toISOString().slice(0, 10), records, added, changed, removed: 0, unchanged }
  })
}

async function copyRecords(tx: Tx, paths: string[], progress: ReadingProgress): Promise<void> {
  const copy = await copyAdvisories(tx)
  try {
    for (const path of paths) await copyPath(copy, path, progress)
    await copy.end()
    progress.finished()
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}

async function copyPath(copy: Copy, path: string, progress: ReadingProgress): Promise<void> {
  const before = progress.records
  let rows: CopyValue[][] = []
  for await (const { place, text } of readOsvFiles(path)) {
    const advisory = await namingTheFile(place, async () => parseOsv(text))
    progress.add(1)
    if (rows.push(toRow(advisory)) < RECORDS_AT_ONCE) continue
    await copy.write(rows)
    rows = []
  }
  await copy.write(rows)
  if (progress.records === before) throw new IntelError(`${path}: There is no OSV record in it.`)
}

const CONTENT_HASH_BYTES = 16

function toRow(advisory: Advisory): CopyValue[] {
  const json = JSON.stringify(advisory)
  const row = {
    ...advisory,
    modified: advisory.modified.toISOString(),
    content_hash: hash('sha256', json, 'buffer').subarray(0, CONTENT_HASH_BYTES),
    fixes: JSON.stringify(advisory.fixes),
  }
  return ADVISORY_COLUMNS.map((column) => row[column])
}

function later(one: Date | null, other: Date | null): Date {
  return new Date(Math.max(one?.getTime() ?? 0, other?.getTime() ?? 0))
}
