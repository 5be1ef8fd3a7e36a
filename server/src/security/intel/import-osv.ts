import { hash } from 'node:crypto'
import type { Copy, CopyValue } from '../../platform/db/table-copy.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import { ADVISORY_COLUMNS, copyAdvisories, upsertAdvisories } from './advisory.store.ts'
import { upsertPackageChanges } from './affected.store.ts'
import {
  type ChangedAdvisories,
  insertTouchedGroups,
  listAssertions,
  upsertAssertions,
  upsertGroups,
} from './alias.store.ts'
import { AliasGroups } from './aliases.ts'
import { type ImportOutcome, importSource, type PrintLine, ReadingProgress } from './import-source.ts'
import { IntelError } from './intel-file.ts'
import { type Advisory, parseOsv } from './osv.parser.ts'
import { readOsvFiles, withFileName } from './read-intel-file.ts'

const RECORDS_AT_ONCE = 200

/**
 * Imports OSV records from files, directories and zip files. A record replaces an older one with
 * the same id and its aliases. Records that the files do not contain stay. Throws IntelError.
 */
export function importOsv(services: Services, paths: string[], print: PrintLine): Promise<ImportOutcome> {
  const progress = new ReadingProgress('OSV records', print)
  return importSource(services, 'osv', async (tx, storedAsOf) => {
    const incoming = await copyAdvisories(tx, async (copy) => {
      for (const path of paths) await copyPath(copy, path, progress)
      progress.finish()
    })
    const { changed, counts } = await upsertAdvisories(incoming)
    await regroupAliases(changed)
    if ((await upsertPackageChanges(tx)) > 0) await publish(tx, advisoriesChanged, {})
    const changes = { added: counts.added, changed: counts.changed, removed: 0 }
    return {
      version: null,
      as_of: new Date(Math.max(storedAsOf?.getTime() ?? 0, counts.newest?.getTime() ?? 0)),
      read: progress.records,
      stored: counts.stored,
      changes,
    }
  })
}

/**
 * Published when the matches of packages may have changed. It does not wait for the other work that
 * follows an import.
 */
export const advisoriesChanged = defineEvent('security.advisories.changed', {
  class: 'bulk',
  payload: definePayload({}),
  subject: () => ({ type: 'intel_source', id: 'osv' }),
  updates: () => [],
  once: () => 'any',
})

async function copyPath(copy: Copy, path: string, progress: ReadingProgress): Promise<void> {
  const before = progress.records
  let rows: CopyValue[][] = []
  for await (const file of readOsvFiles(path)) {
    const advisory = await withFileName(file.path, async () => parseOsv(file.text))
    progress.add(1)
    if (rows.push(toRow(advisory)) < RECORDS_AT_ONCE) continue
    await copy.write(rows)
    rows = []
  }
  await copy.write(rows)
  if (progress.records === before) throw new IntelError(`${path} contains no OSV records.`)
}

const CONTENT_HASH_BYTES = 16

function toRow(advisory: Advisory): CopyValue[] {
  const json = JSON.stringify(advisory)
  const row = {
    ...advisory,
    modified: advisory.modified.toISOString(),
    content_hash: hash('sha256', json, 'buffer').subarray(0, CONTENT_HASH_BYTES),
    fixes: JSON.stringify(advisory.fixes),
    affected: JSON.stringify(advisory.affected.map((entry, position) => ({ position, ...entry }))),
  }
  return ADVISORY_COLUMNS.map((column) => row[column])
}

/**
 * Brings the groups of aliases in line with the changed OSV records. Groups that the records do not
 * concern are not read. The changes are recorded for `issues/regroup`, which regroups the issues
 * that they concern.
 */
async function regroupAliases(changed: ChangedAdvisories): Promise<void> {
  const touched = await insertTouchedGroups(await upsertAssertions(changed))
  const groups = new AliasGroups()
  for await (const assertions of listAssertions(touched)) {
    for (const { id, alias } of assertions) groups.join(id, alias)
  }
  await upsertGroups(touched, groups.entries())
}
