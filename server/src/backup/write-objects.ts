import { createHash } from 'node:crypto'
import type { ArchiveWriter } from '../platform/archive/archive-writer.ts'
import type { Sql } from '../platform/db/sql.ts'
import { measureBytes } from '../platform/metered.ts'
import { ObjectNotFoundError, type ObjectStore } from '../platform/objects/object-store.ts'
import type { Mismatch } from '../platform/objects/verify-object.ts'
import type { Services } from '../services.ts'
import { type Closing, getFactsContentName, getObjectContentName } from './manifest.ts'
import { isNamed, type ListedObject, listKeptObjects } from './object-list.store.ts'

const LISTED_MAX = 1000

export type BackedUpObjects = Pick<Closing, 'objects' | 'object_bytes' | 'lost' | 'lost_objects'>

/**
 * Writes the objects of the kept list. One that is missing or damaged does not end the backup: it
 * is listed. One whose row was deleted after the snapshot is not missed.
 */
export async function writeObjects(
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
