import assert from 'node:assert/strict'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeStaleTemporaryFiles } from '../../src/platform/objects/object-file.ts'
import { incomingFiles, startFileStore } from '../support/file-store-server.ts'
import { collect, expectationOf, send } from '../support/object-store-contract.ts'

const now = new Date('2026-01-02T03:04:05.000Z')

async function leaveBehind(directory: string, name: string, ageMs: number): Promise<void> {
  const path = join(directory, '.incoming', name)
  await writeFile(path, 'half a file')
  await utimes(path, now, new Date(now.getTime() - ageMs))
}

test('only temporary files untouched for more than an hour are swept, and no object', async () => {
  const { store, directory, close } = await startFileStore()
  try {
    const bytes = Buffer.from('kept')
    await send(await store.presignPut('a/b', expectationOf(bytes), new Date()), bytes)
    await leaveBehind(directory, 'stale', 3_600_001)
    await leaveBehind(directory, 'fresh', 3_600_000)
    assert.equal(await removeStaleTemporaryFiles(directory, now), 1)
    assert.deepEqual(await incomingFiles(directory), ['fresh'])
    assert.equal((await collect(store.read('a/b'))).toString(), 'kept')
    assert.equal(await removeStaleTemporaryFiles(directory, now), 0)
  } finally {
    await close()
  }
})

test('two sweeps at once share the work without an error', async () => {
  const { directory, close } = await startFileStore()
  try {
    for (let count = 0; count < 20; count += 1) await leaveBehind(directory, `stale-${count}`, 7_200_000)
    await Promise.all([removeStaleTemporaryFiles(directory, now), removeStaleTemporaryFiles(directory, now)])
    assert.deepEqual(await incomingFiles(directory), [])
  } finally {
    await close()
  }
})

test('a store that was never used has nothing to sweep', async () => {
  const { directory, close } = await startFileStore()
  try {
    await rm(join(directory, '.incoming'), { recursive: true })
    assert.equal(await removeStaleTemporaryFiles(directory, now), 0)
  } finally {
    await close()
  }
})
