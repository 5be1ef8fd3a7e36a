import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { synchronizeDirectory, toNullIfMissing } from '../files.ts'
import type { ExpectedObject, StoredObject } from './object-store.ts'
import { CHECKSUM_BYTES, verifyBody } from './verify-object.ts'

const WRITE_BATCH_BYTES = 256 * 1024
const READ_CHUNK_BYTES = 256 * 1024

/** What is stored, and what is to be done with each chunk once it is written. */
type ObjectBody = { chunks: AsyncIterable<Uint8Array>; written: (chunk: Uint8Array) => void }

/**
 * Stores the body under `path` once it is complete, verified and on disk. Until then, and on
 * failure, the path keeps what it had. The file is the body followed by its SHA-256 (32 bytes), so
 * one rename publishes both, and a truncated or replaced file is detected.
 */
export async function writeObjectFile(
  root: string,
  path: string,
  expected: ExpectedObject,
  body: ObjectBody,
): Promise<void> {
  const temporary = join(getIncomingDirectory(root), randomUUID())
  try {
    await using file = await open(temporary, 'wx', 0o600)
    await writeVerified(file, expected, body)
    const directory = dirname(path)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await rename(temporary, path)
    for (let at = directory; at.length >= root.length; at = dirname(at)) await synchronizeDirectory(at)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Writes data as it arrives, one batch behind, and syncs the file. */
async function writeVerified(file: FileHandle, expected: ExpectedObject, { chunks, written }: ObjectBody) {
  let writing = Promise.resolve()
  try {
    for await (const batch of inBatches(verifyBody(chunks, expected))) {
      await writing
      writing = writeBatch(file, batch).then(() => batch.forEach(written))
      writing.catch(() => {}) // it is thrown where `writing` is awaited, which may be a while after it fails
    }
  } finally {
    await writing
  }
  await file.sync()
}

/** Sockets deliver at most 64 KiB. Fewer, larger writes cost less. */
async function* inBatches(chunks: AsyncIterable<Uint8Array>) {
  let batch: Uint8Array[] = []
  let batchBytes = 0
  for await (const chunk of chunks) {
    batch.push(chunk)
    batchBytes += chunk.byteLength
    if (batchBytes < WRITE_BATCH_BYTES) continue
    yield batch
    batch = []
    batchBytes = 0
  }
  yield batch
}

/**
 * `writev` may write only a part, for example on a full disk. Writing the rest then reports the
 * error.
 */
async function writeBatch(file: FileHandle, batch: Uint8Array[]): Promise<void> {
  const { bytesWritten } = await file.writev(batch)
  const batchBytes = batch.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  if (bytesWritten < batchBytes) await file.writeFile(Buffer.concat(batch).subarray(bytesWritten))
}

/**
 * Reads the object's size and checksum. The checksum is null if the file is too short to contain
 * one.
 */
export async function describeObjectFile(file: FileHandle): Promise<StoredObject> {
  const { size } = await file.stat()
  if (size < CHECKSUM_BYTES) return { sizeBytes: 0, sha256: null }
  const sizeBytes = size - CHECKSUM_BYTES
  const { buffer } = await file.read({ buffer: Buffer.alloc(CHECKSUM_BYTES), position: sizeBytes })
  return { sizeBytes, sha256: buffer.toString('hex') }
}

/** Reads the object's bytes, without the checksum. Reads one chunk ahead. */
export async function* readObjectFile(file: FileHandle, sizeBytes: number) {
  let at = 0
  let reading = readChunk(file, at, sizeBytes)
  while (at < sizeBytes) {
    const chunk = await reading
    at += chunk.length
    reading = readChunk(file, at, sizeBytes)
    reading.catch(() => {}) // it is thrown where `reading` is awaited, which may be never
    yield chunk
  }
}

/** Reads what exists of the next chunk; nothing at the end. */
async function readChunk(file: FileHandle, at: number, endBytes: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, endBytes - at))
  if (chunk.length === 0) return chunk
  const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
  if (bytesRead === 0) throw new Error('The object file was truncated while it was read.')
  return chunk.subarray(0, bytesRead)
}

const STALE_AFTER_MS = 60 * 60_000

/**
 * The directory of bodies that are not verified yet. Its name starts with a dot, so no key leads to
 * it.
 */
export function getIncomingDirectory(root: string): string {
  return join(root, '.incoming')
}

/**
 * Removes temporary files that a crash left behind: those not written to for an hour. `root` is the
 * directory of the file store. Returns the number of removed files.
 */
export async function removeStaleTemporaryFiles(root: string, now: Date): Promise<number> {
  const directory = getIncomingDirectory(root)
  let removed = 0
  for (const name of (await toNullIfMissing(readdir(directory))) ?? []) {
    const file = await toNullIfMissing(stat(join(directory, name)))
    if (!file || now.getTime() - file.mtimeMs <= STALE_AFTER_MS) continue
    await rm(join(directory, name), { force: true })
    removed += 1
  }
  return removed
}
