import { migrateLike } from '../platform/db/migrations/migrate.ts'
import type { Sql, Tx } from '../platform/db/sql.ts'
import {
  createPartition,
  listStoredTables,
  removeConstraints,
  restoreConstraints,
  type StoredTable,
  updateSequence,
} from '../platform/db/stored-tables.ts'
import { openCopy, writeCopy } from '../platform/db/table-copy.ts'
import { ApiError } from '../platform/http/api-error.ts'
import type { ObjectStore } from '../platform/objects/object-store.ts'
import { ArchiveError } from './archive.ts'
import { deleteTableRows, requireEmpty, updateLoadSettings } from './backup.store.ts'
import type { Closing, ObjectFacts } from './manifest.ts'
import { type OpenBackup, readContents } from './read-backup.ts'

type RestoreOptions = {
  sql: Sql
  objects: ObjectStore
  progress: (done: number, total: number) => void
  say: (line: string) => void
}

/**
 * Restores rows and objects into an empty database, in one transaction: an interrupted restore
 * leaves no table. Throws if the database is not empty, or if the file turns out to be damaged.
 */
export async function restoreBackup(backup: OpenBackup, options: RestoreOptions): Promise<Closing> {
  const { sql, objects, progress, say } = options
  const { opening } = backup
  return sql.begin(async (tx) => {
    await updateLoadSettings(tx)
    await requireEmpty(tx)
    await migrateLike(tx, new Map(Object.entries(opening.migrations)))
    for (const partition of opening.partitions) await createPartition(tx, partition)
    const statements = await removeConstraints(tx)
    const own = await findOwn(tx, opening.tables, say)
    await deleteTableRows(tx, [...own])
    let done = 0
    const closing = await readContents(
      backup,
      {
        table: (table, rows) => (own.has(table) ? loadTable(tx, table, rows) : discard(rows)),
        object: (key, facts, bytes) => writeObject(objects, key, facts, bytes),
      },
      (bytes) => {
        done += bytes
        progress(done, opening.estimated_bytes)
      },
    )
    say('Building the indexes')
    await restoreConstraints(tx, statements)
    for (const sequence of closing.sequences) await updateSequence(tx, sequence)
    return closing
  }) as Promise<Closing>
}

/** The tables that the migrations have made. A backup also has those that somebody has added. */
async function findOwn(tx: Tx, tables: readonly StoredTable[], say: RestoreOptions['say']): Promise<Set<StoredTable>> {
  const known = new Set((await listStoredTables(tx)).map(({ name }) => name))
  const own = new Set(tables.filter(({ name }) => known.has(name)))
  for (const table of tables)
    if (!own.has(table)) say(`warning: ${table.name} is no table of Shiplock and is left out; the file has its rows`)
  return own
}

async function discard(rows: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of rows);
}

async function loadTable(tx: Tx, { name, columns, is_partitioned }: StoredTable, rows: AsyncIterable<Uint8Array>) {
  // Rows of partitions cannot be written as frozen.
  const copy = await openCopy(tx, name, columns, is_partitioned ? undefined : 'frozen')
  await writeCopy(copy, async () => {
    for await (const bytes of rows) await copy.writeBytes(bytes)
  })
}

/** Leaves out an object that was damaged before it was backed up: the closing lists it. */
async function writeObject(
  objects: ObjectStore,
  key: string,
  { size, sha256 }: ObjectFacts,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const expected = { sizeBytes: size, sha256, contentType: 'application/octet-stream' }
  try {
    await objects.write(key, expected, bytes)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 503) throw error
    if (error.cause instanceof Error) throw error.cause
    if (error.code === 'checksum_mismatch') return
    throw new ArchiveError(`The object ${key} does not have its size: the file was changed`, { cause: error })
  }
}
