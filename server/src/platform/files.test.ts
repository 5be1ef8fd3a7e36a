import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDataDirectory, makeDirectory } from './files.ts'

test('a directory is made with those above it, once', async () => {
  const root = await mkdtemp(join(tmpdir(), 'shiplock-files-'))
  try {
    const path = join(root, 'a/b/c')
    assert.deepEqual([await makeDirectory(path, 0o700), await makeDirectory(path, 0o700)], [true, false])
    assert.equal((await stat(join(root, 'a'))).mode & 0o777, 0o700)
    await writeFile(join(root, 'file'), '')
    await assert.rejects(makeDirectory(join(root, 'file')), /EEXIST/)
    await assert.rejects(makeDirectory(join(root, 'file/a')), /ENOTDIR/)
  } finally {
    await rm(root, { recursive: true })
  }
})

test('a directory that the system refuses is an error at once, which names the setting', async () => {
  await assert.rejects(
    makeDataDirectory('/proc/shiplock/data'),
    /^Error: The data directory cannot be made \(ENOENT: .*\); check SHIPLOCK_DATA_DIR$/,
  )
})
