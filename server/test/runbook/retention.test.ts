import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { runSection } from '../support/runbook.ts'

let directory: string
let dataDir: string
let running: Running

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-retention-'))
  dataDir = join(directory, 'data')
  running = await startProgram(dataDir)
  const { code, stderr } = await runProgram(dataDir, ['org', 'create', 'acme'])
  assert.equal(code, 0, stderr)
  mkdirSync(join(directory, 'backups'))
})
after(async () => {
  await running?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const place = () => ({
  cwd: directory,
  env: { SHIPLOCK_DATA_DIR: dataDir },
  replace: { '/var/backups': join(directory, 'backups') },
})

test('Run it: what has expired is counted and deleted while the server runs, and /metrics shows it', async () => {
  const { stdout } = await runSection('operations/retention.md', 'Run it', place())
  assert.match(stdout, /KIND +EXPIRED/)
  assert.match(stdout, /0 files were removed/)
  assert.match(stdout, /on the plan enterprise/)
  const metrics = await (await fetch(`${running.ready.url}/metrics`)).text()
  assert.match(metrics, /^shiplock_retention_last_success_timestamp_seconds \d/m)
  assert.match(metrics, /^shiplock_retention_duration_seconds \d/m)
})

test('Delete an organization: it is exported, and then gone', async () => {
  const { stdout } = await runSection('operations/retention.md', 'Delete an organization', place())
  assert.match(stdout, /tables\/organizations\.ndjson/)
  assert.match(stdout, /Deleted the organization acme/)
  for (const name of ['acme.tar.gz', 'acme-last.tar.gz']) assert.ok(existsSync(join(directory, 'backups', name)), name)
})
