import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, startProgram } from '../support/program.ts'
import { runSection } from '../support/runbook.ts'

let directory: string
let running: Running

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-operations-'))
  running = await startProgram(join(directory, 'data'))
})
after(async () => {
  await running?.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('Signing keys: the key is listed, exported and rotated', async () => {
  const env = { SHIPLOCK_DATA_DIR: join(directory, 'data') }
  await runSection('operations.md', 'Signing keys', { cwd: directory, env })
  assert.match(readFileSync(join(directory, 'shiplock.pem'), 'utf8'), /BEGIN PUBLIC KEY/)
})
