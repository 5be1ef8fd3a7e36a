import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

test('Commands beside systemd: the settings and the secret key of the units are used', async () => {
  const etc = join(directory, 'etc')
  mkdirSync(join(etc, 'credentials'), { recursive: true })
  writeFileSync(join(etc, 'shiplock.env'), 'SHIPLOCK_BASE_URL=https://shiplock.example.com\n')
  cpSync(join(directory, 'data/secret-key'), join(etc, 'credentials/secret-key'))
  const replace = {
    '/etc/shiplock': etc,
    '/var/lib/shiplock': join(directory, 'data'),
    'runuser -u shiplock -- /opt/shiplock/node_modules/.bin/': '',
  }
  const { stdout } = await runSection('operations/install.md', 'Commands beside systemd', { cwd: directory, replace })
  assert.match(stdout, /ok +settings +production, https:\/\/shiplock\.example\.com/)
  assert.match(stdout, /ok +secret key +SHIPLOCK_SECRET_KEY opens what is stored/)
})
