import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, startProgram } from '../support/program.ts'
import { runSection } from '../support/runbook.ts'

let directory: string
let running: Running

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-monitoring-'))
  running = await startProgram(join(directory, 'data'), 'start', { SHIPLOCK_METRICS_PORT: '0' })
})
after(async () => {
  await running?.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('doctor: every check is listed, and all are ok', async () => {
  const env = { SHIPLOCK_DATA_DIR: join(directory, 'data') }
  const { stdout } = await runSection('operations/monitoring.md', 'doctor', { cwd: directory, env })
  assert.match(stdout, /^ok\s+database/m)
  const findings = JSON.parse(readFileSync(join(directory, 'doctor.json'), 'utf8')) as { ok: boolean }[]
  assert.ok(findings.length > 10 && findings.every(({ ok }) => ok))
})

test('Metrics: the port of the metrics has health and metrics', async () => {
  const env = { SHIPLOCK_METRICS_URL: running.ready.metrics_url }
  await runSection('operations/monitoring.md', 'Metrics', { cwd: directory, env })
  assert.match(readFileSync(join(directory, 'metrics.txt'), 'utf8'), /^shiplock_build_info\{/m)
})

test('Logs: a search for the id of a request finds its lines', async () => {
  const log = join(directory, 'log')
  writeFileSync(log, '{"level":30,"request_id":"a1","msg":"one"}\n{"level":30,"request_id":"b2","msg":"two"}\n')
  const env = { SHIPLOCK_LOG: log, REQUEST_ID: 'a1' }
  const { stdout } = await runSection('operations/monitoring.md', 'Logs', { cwd: directory, env })
  assert.equal(stdout, '{"level":30,"request_id":"a1","msg":"one"}\nno slow statements\n')
})
