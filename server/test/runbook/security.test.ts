import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createEmptyTestDatabase, type TestDatabase } from '../support/database.ts'
import { printedBy } from '../support/run-command.ts'
import { urlAs } from '../support/run-roles.ts'
import { runSection } from '../support/runbook.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-runbook-security-'))
let database: TestDatabase

before(async () => {
  database = await createEmptyTestDatabase()
})
after(async () => {
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('Database roles: the roles are created, and the application cannot change the evidence', async () => {
  const env = {
    ...{ ADMIN_DATABASE_URL: database.url, OWNER_DATABASE_URL: urlAs('shiplock_owner', database, 'a') },
    ...{ OWNER_PASSWORD: 'a', APP_PASSWORD: 'b', WORKER_PASSWORD: 'c', READ_PASSWORD: 'd' },
    SHIPLOCK_DATA_DIR: dataDir,
  }
  const { stdout } = await runSection('operations/security.md', 'Database roles', { cwd: ROOT, env })
  assert.match(stdout, /audit_entries +\| INSERT, SELECT\n/)
  assert.match(stdout, /chain_links +\| INSERT, SELECT\n/)
  assert.match(stdout, /log_entries +\| INSERT, SELECT\n/)
})

test('Rotate keys: a key is replaced, the signing key is rotated, and the evidence verifies', async () => {
  await printedBy(dataDir, ['org', 'create', 'default'])
  const old = await printedBy(dataDir, ['key', 'create', '--org', 'default', '--name', 'old', '--scope', 'write:ci'])
  const env = { SHIPLOCK_DATA_DIR: dataDir, OLD_KEY_ID: old.id }
  const { stdout } = await runSection('operations/security.md', 'Rotate keys', { cwd: ROOT, env })
  assert.match(stdout, /Revoked the key "old"/)
})

test('Audit the dependencies: no dependency must be replaced', async () => {
  const { stdout } = await runSection('operations/security.md', 'Audit the dependencies', { cwd: ROOT })
  assert.match(stdout, /Lock file: 0 mistakes/)
})
