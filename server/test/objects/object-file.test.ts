import assert from 'node:assert/strict'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileObjectStore } from '../../src/platform/objects/file-object-store.ts'
import { incomingFiles, startFileStore } from '../support/file-store-server.ts'
import { expectationOf, sha256 } from '../support/object-store-contract.ts'

async function withStore(check: (store: FileObjectStore, directory: string) => Promise<void>): Promise<void> {
  const { store, directory, close } = await startFileStore()
  try {
    await check(store, directory)
  } finally {
    await close()
  }
}

async function* inChunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

test('a body is stopped at the first byte beyond its size, in any chunks', () =>
  withStore(async (store, directory) => {
    let chunksTaken = 0
    const endless = async function* () {
      for (;;) {
        chunksTaken += 1
        yield Buffer.from('1234')
      }
    }
    await assert.rejects(store.write('k', expectationOf(Buffer.from('123456')), endless()), {
      code: 'payload_too_large',
    })
    assert.equal(chunksTaken, 2)
    assert.equal(await store.stat('k'), null)
    assert.deepEqual(await incomingFiles(directory), [])
  }))

test('a body that ends early, differs or throws leaves no file', () =>
  withStore(async (store, directory) => {
    const expected = expectationOf(Buffer.from('123456'))
    const failing = async function* () {
      yield Buffer.from('123')
      throw new Error('connection lost')
    }
    await assert.rejects(store.write('k', expected, inChunks('12', '34')), { code: 'size_mismatch' })
    await assert.rejects(store.write('k', expected, inChunks('12', '3457')), { code: 'checksum_mismatch' })
    await assert.rejects(store.write('k', expected, failing()), { code: 'size_mismatch' })
    assert.equal(await store.stat('k'), null)
    assert.deepEqual(await incomingFiles(directory), [])
  }))

test('a truncated or replaced file does not have the stored checksum', () =>
  withStore(async (store, directory) => {
    const text = 'x'.repeat(100)
    const expected = expectationOf(Buffer.from(text))
    for (const spoil of [
      (path: string) => truncate(path, 99),
      (path: string) => truncate(path, 10),
      (path: string) => writeFile(path, text),
      (path: string) => writeFile(path, '!', { flag: 'a' }),
    ]) {
      await store.write('a/b', expected, inChunks(text))
      assert.equal((await store.stat('a/b'))?.sha256, sha256(Buffer.from(text)))
      await spoil(join(directory, 'a/b'))
      assert.notEqual((await store.stat('a/b'))?.sha256, expected.sha256)
    }
  }))
