import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadSecretKey } from '../../src/platform/crypto/secret-key.ts'

async function withDirectory(check: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'secret-key-'))
  try {
    await check(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function load(directory: string, configured?: string): Promise<string> {
  return (await loadSecretKey(configured, directory)).export().toString()
}

test('a secret is created once, kept, and readable only by its owner', () =>
  withDirectory(async (directory) => {
    const secret = await load(directory)
    assert.equal(secret.length, 43)
    assert.equal(await load(directory), secret)
    assert.equal((await readFile(join(directory, 'secret-key'), 'utf8')).trim(), secret)
    assert.equal((await stat(join(directory, 'secret-key'))).mode & 0o777, 0o600)
  }))

test('many starts at the same moment all get the same secret, and leave one file', () =>
  withDirectory(async (directory) => {
    const inside = join(directory, 'not/there/yet')
    const secrets = await Promise.all(Array.from({ length: 20 }, () => load(inside)))
    assert.equal(new Set(secrets).size, 1)
    assert.deepEqual(await readdir(inside), ['secret-key'])
  }))

test('two directories have two secrets', () =>
  withDirectory(async (directory) => {
    assert.notEqual(await load(join(directory, 'a')), await load(join(directory, 'b')))
  }))

test('a configured secret is used instead, and nothing is written', () =>
  withDirectory(async (directory) => {
    assert.equal(await load(directory, 'c'.repeat(32)), 'c'.repeat(32))
    assert.deepEqual(await readdir(directory), [])
  }))

test('a stored secret that was emptied or truncated is an error, and is not replaced', () =>
  withDirectory(async (directory) => {
    await writeFile(join(directory, 'secret-key'), 'short\n')
    await assert.rejects(load(directory), /secret-key must have at least 32 characters/)
    assert.equal(await readFile(join(directory, 'secret-key'), 'utf8'), 'short\n')
  }))
