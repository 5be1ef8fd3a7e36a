import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runSection } from '../support/runbook.ts'

test('A new version of Shiplock: the database is migrated', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-upgrade-'))
  const place = { cwd: directory, env: { SHIPLOCK_DATA_DIR: join(directory, 'data') } }
  try {
    const first = await runSection('operations/upgrade.md', 'A new version of Shiplock', place)
    assert.match(first.stdout, /^Applied 0001_baseline\.sql/)
    const second = await runSection('operations/upgrade.md', 'A new version of Shiplock', place)
    assert.match(second.stdout, /^The database is up to date\./)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
