import { createHash } from 'node:crypto'
import { checksumMismatch, createBodyTooLargeError, createWrongSizeError, sizeMismatch } from './errors.ts'
import { type ExpectedObject, ObjectNotFoundError, type ObjectStore } from './object-store.ts'

export type Mismatch = 'missing' | 'size_mismatch' | 'checksum_mismatch'

/**
 * Returns what is wrong with a stored object, or null. Reads the object only if the store does not
 * know its checksum.
 */
export async function findMismatch(
  store: ObjectStore,
  key: string,
  expected: { sizeBytes: number; sha256: string },
): Promise<Mismatch | null> {
  const stored = await store.stat(key)
  if (!stored) return 'missing'
  if (stored.sizeBytes !== expected.sizeBytes) return 'size_mismatch'
  const sha256 = stored.sha256 ?? (await hashObject(store, key))
  if (sha256 === null) return 'missing'
  return sha256 === expected.sha256 ? null : 'checksum_mismatch'
}

/** Returns null if the object was removed meanwhile. */
async function hashObject(store: ObjectStore, key: string): Promise<string | null> {
  const digest = createHash('sha256')
  try {
    for await (const chunk of store.read(key)) digest.update(chunk)
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null
    throw error
  }
  return digest.digest('hex')
}

export const CHECKSUM_BYTES = 32

/**
 * Yields the body chunk by chunk, and then its SHA-256 as 32 more bytes if the body is as expected.
 * Otherwise throws 413 `payload_too_large` on the first excess byte, 400 `size_mismatch` if the
 * body ends early, or 400 `checksum_mismatch`.
 */
export async function* verifyBody(body: AsyncIterable<Uint8Array>, expected: ExpectedObject) {
  const hash = createHash('sha256')
  let receivedBytes = 0
  for await (const chunk of unlessBrokenOff(body)) {
    receivedBytes += chunk.byteLength
    if (receivedBytes > expected.sizeBytes) throw createBodyTooLargeError(expected.sizeBytes)
    hash.update(chunk)
    yield chunk
  }
  if (receivedBytes < expected.sizeBytes) throw createWrongSizeError(expected.sizeBytes, receivedBytes)
  const checksum = hash.digest()
  if (checksum.toString('hex') !== expected.sha256) throw checksumMismatch()
  yield checksum
}

/**
 * Like `verifyBody` without the checksum at its end. The last bytes are held back until all are
 * verified, so that a wrong body is never complete.
 */
export async function* checkBody(body: AsyncIterable<Uint8Array>, expected: ExpectedObject) {
  let held: Uint8Array | undefined
  for await (const chunk of verifyBody(body, expected)) {
    if (held) yield held
    held = chunk
  }
}

/**
 * An error of the body is a broken connection, not a failure of our disk. Only here are they
 * certain to be different.
 */
async function* unlessBrokenOff(body: AsyncIterable<Uint8Array>) {
  try {
    yield* body
  } catch (cause) {
    throw sizeMismatch('The connection was closed before the end of the body.').causedBy(cause)
  }
}
