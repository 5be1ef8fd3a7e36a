import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../support/json.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-signing-keys-'))
  running = await startProgram(dataDir)
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, ['signing-key', ...args])

test('signing-key list, rotate and export-public print the keys that the API lists', async () => {
  assert.deepEqual(await json('list', '--org', 'default'), [])
  const first = (await json('export-public', '--org', 'default')).keys[0]
  assert.deepEqual(Object.keys(first).sort(), ['alg', 'created_at', 'keyid', 'pem', 'retired_at'])

  const second = await json('rotate', '--org', 'default')
  assert.equal(second.retired_at, null)
  assert.equal(second.kms_key, null)
  const listed = await json('list', '--org', 'default')
  assert.deepEqual(
    listed.map(({ keyid, retired_at }: { keyid: string; retired_at: string | null }) => [keyid, retired_at !== null]),
    [
      [second.keyid, false],
      [first.keyid, true],
    ],
  )

  const headers = { authorization: `Bearer ${running.ready.key.key}` }
  const answer = await fetch(`${running.ready.url}/v1/provenance/keys`, { headers })
  const { data } = (await answer.json()) as Json
  assert.deepEqual(data, await json('export-public', '--org', 'default', '--all'))
})

test('export-public prints one PEM, with --all every one', async () => {
  const { stdout: one } = await runProgram(dataDir, ['signing-key', 'export-public', '--org', 'default'])
  assert.match(one, /^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+\n-----END PUBLIC KEY-----\n$/)
  const { stdout: all } = await runProgram(dataDir, ['signing-key', 'export-public', '--org', 'default', '--all'])
  assert.equal(all.split('-----BEGIN PUBLIC KEY-----').length, 3)
})

test('an unknown organization is refused, and a missing one is a wrong call', async () => {
  for (const name of ['list', 'rotate', 'export-public']) {
    await assertRefused(dataDir, 1, /Organization "nobody" does not exist/, ['signing-key', name, '--org', 'nobody'])
    await assertRefused(dataDir, 2, /--org/, ['signing-key', name])
  }
})
