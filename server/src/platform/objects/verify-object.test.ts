import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ObjectNotFoundError, type ObjectStore, type StoredObject } from './object-store.ts'
import { findMismatch } from './verify-object.ts'

const FILE = Buffer.from('a file')
const SHA256 = createHash('sha256').update(FILE).digest('hex')
const EXPECTED = { sizeBytes: FILE.length, sha256: SHA256 }

/** A store whose `stat` returns `stored`, and that contains `bytes` unless they are null. */
function storeOf(stored: StoredObject | null, bytes?: Uint8Array): ObjectStore {
  return {
    stat: async () => stored,
    async *read(key: string) {
      if (!bytes) throw new ObjectNotFoundError(key)
      yield bytes.subarray(0, 2)
      yield bytes.subarray(2)
    },
  } as Partial<ObjectStore> as ObjectStore
}

test('size and checksum that the store tells are compared without reading', async () => {
  const found = (stored: StoredObject | null) => findMismatch(storeOf(stored), 'key', EXPECTED)
  assert.equal(await found(EXPECTED), null)
  assert.equal(await found(null), 'missing')
  assert.equal(await found({ ...EXPECTED, sizeBytes: 5 }), 'size_mismatch')
  assert.equal(await found({ sizeBytes: 5, sha256: null }), 'size_mismatch')
  assert.equal(await found({ ...EXPECTED, sha256: '0'.repeat(64) }), 'checksum_mismatch')
})

test('the whole object is read if the store does not return its checksum', async () => {
  const found = (bytes?: Uint8Array) =>
    findMismatch(storeOf({ sizeBytes: FILE.length, sha256: null }, bytes), 'key', EXPECTED)
  assert.equal(await found(FILE), null)
  assert.equal(await found(Buffer.from('A file')), 'checksum_mismatch')
  assert.equal(await found(undefined), 'missing')
})
