import { createHash } from 'node:crypto'
import packageJson from '../../package.json' with { type: 'json' }
import { computeDerivedKey, toSecretKey } from '../platform/crypto/secret-key.ts'
import { readRecords } from '../platform/db/migrations/migration-records.ts'
import { isDistributed } from '../platform/db/spread.ts'
import { readServerVersion, type Sql, type Tx } from '../platform/db/sql.ts'
import { listPartitions, listSequences, listStoredTables } from '../platform/db/stored-tables.ts'
import { copyTable, measureBytes } from '../platform/db/table-copy.ts'
import { ObjectNotFoundError, type ObjectStore } from '../platform/objects/object-store.ts'
import type { Mismatch } from '../platform/objects/verify-object.ts'
import type { Services } from '../services.ts'
import type { ArchiveWriter } from './archive.ts'
import { insertObjectList, isNamed, type ListedObject, listKeptObjects } from './backup.store.ts'
import {
  type Closing,
  FORMAT,
  getFactsContentName,
  getObjectContentName,
  getTableContentName,
  type Opening,
  SECRET_KEY_CONTENT,
} from './manifest.ts'

type BackupRequest = {
  archive: ArchiveWriter
  /** One connection without time limits: the list of objects belongs to the connection. */
  sql: Sql
  secret: string
  withSecret: boolean
  /** Reports bytes of content; the total is an estimate. */
  progress: (done: number, total: number) => void
}

const DISTRIBUTED =
  'The tables are distributed over several database servers, and a copy of them would not be of one moment. ' +
  'Back up these servers together instead (docs/operations/citus.md).'

/**
 * Writes a consistent copy of the installation while it is in use: all rows of one moment, then the
 * objects that they name, and the secret key.
 */
export async function createBackup(services: Services, request: BackupRequest): Promise<Closing> {
  const { archive, sql, progress } = request
  let done = 0
  const begun = await sql.begin('isolation level repeatable read', async (tx) => {
    const opening = await describe(tx, services, request)
    const count = (bytes: number) => {
      done += bytes
      progress(done, opening.estimated_bytes)
    }
    await archive.begin(opening)
    if (request.withSecret) await archive.add(SECRET_KEY_CONTENT, Buffer.from(`${request.secret}\n`))
    const rows = await writeTables(tx, archive, opening, count)
    return { rows, count, sequences: await listSequences(tx) }
  })
  const objects = await writeObjects(services, sql, archive, begun.count)
  const closing: Closing = { sequences: begun.sequences, rows: begun.rows, ...objects }
  await archive.end(closing)
  return closing
}

async function describe(tx: Tx, { clock }: Services, { secret, withSecret }: BackupRequest): Promise<Opening> {
  const migrations = await readRecords(tx)
  if (migrations.size === 0) throw new Error('The database has no tables of Shiplock: there is nothing to back up')
  if (await isDistributed(tx)) throw new Error(DISTRIBUTED)
  const tables = await listStoredTables(tx)
  const { bytes } = await insertObjectList(tx)
  return {
    format: FORMAT,
    created_at: clock.now().toISOString(),
    program_version: packageJson.version,
    server_version: await readServerVersion(tx),
    migrations: Object.fromEntries(migrations),
    tables,
    partitions: await listPartitions(tx),
    has_secret_key: withSecret,
    secret_key_check: checkOfSecret(secret),
    estimated_bytes: tables.reduce((sum, table) => sum + table.bytes, bytes),
  }
}

/** The same for the same secret key. */
export function checkOfSecret(secret: string): string {
  return computeDerivedKey(toSecretKey(secret), 'check of backups').export().toString('hex')
}

async function writeTables(
  tx: Tx,
  archive: ArchiveWriter,
  { tables }: Opening,
  count: (bytes: number) => void,
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const table of tables) {
    const copied = copyTable(tx, table)
    await archive.addContent(getTableContentName(table.name), measureBytes(copied.bytes, count))
    rows[table.name] = copied.rows()
  }
  return rows
}

const LISTED_MAX = 1000

type BackedUpObjects = Pick<Closing, 'objects' | 'object_bytes' | 'lost' | 'lost_objects'>

/**
 * Writes the objects of the kept list. One that is missing or damaged does not end the backup: it
 * is listed. One whose row was deleted after the snapshot is not missed.
 */
async function writeObjects(
  { objects: store }: Pick<Services, 'objects'>,
  sql: Sql,
  archive: ArchiveWriter,
  count: (bytes: number) => void,
): Promise<BackedUpObjects> {
  const written: BackedUpObjects = { objects: 0, object_bytes: 0, lost: 0, lost_objects: [] }
  const lose = (key: string, reason: Mismatch) => {
    written.lost += 1
    if (written.lost <= LISTED_MAX) written.lost_objects.push({ key, reason })
  }
  for await (const object of listKeptObjects(sql)) {
    const { key, size, is_required } = object
    const mismatch = await writeObject(store, archive, object, count)
    if (mismatch === null || mismatch === 'checksum_mismatch') {
      written.objects += 1
      written.object_bytes += size
    }
    if (mismatch !== null && is_required && (mismatch !== 'missing' || (await isNamed(sql, key)))) lose(key, mismatch)
  }
  return written
}

/** Writes an object, if it has its size. Returns what is wrong with it, or null. */
async function writeObject(
  store: ObjectStore,
  archive: ArchiveWriter,
  { key, size, sha256 }: ListedObject,
  count: (bytes: number) => void,
): Promise<Mismatch | null> {
  const stored = await store.stat(key)
  const content = stored && (await openObject(store, key))
  if (!content) return 'missing'
  if (stored.sizeBytes !== size) return 'size_mismatch'
  const digest = createHash('sha256')
  const hashed = async function* () {
    for await (const chunk of content) {
      digest.update(chunk)
      yield chunk
    }
  }
  await archive.add(getFactsContentName(key), Buffer.from(`${JSON.stringify({ size, sha256 })}\n`))
  await archive.addContent(getObjectContentName(key), measureBytes(hashed(), count))
  return digest.digest('hex') === sha256 ? null : 'checksum_mismatch'
}

/** Returns null if the object is missing: the store says so at the first bytes. */
async function openObject(store: ObjectStore, key: string): Promise<AsyncIterable<Uint8Array> | null> {
  const reading = store.read(key)[Symbol.asyncIterator]()
  try {
    const first = await reading.next()
    return (async function* () {
      if (first.done) return
      yield first.value
      yield* { [Symbol.asyncIterator]: () => reading }
    })()
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null
    throw error
  }
}
