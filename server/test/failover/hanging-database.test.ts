import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { runProgram, startProgram } from '../support/program.ts'

const STOPS_WITHIN_MS = 50_000

test('server and worker stop within 50 s while PostgreSQL hangs', async (t) => {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-hanging-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await PostgresServer.create(directory)
  opened.defer(() => postgres.close())
  const env = { DATABASE_URL: postgres.url, SHIPLOCK_LOG_LEVEL: 'fatal', SHIPLOCK_CONSOLE: 'off' }
  assert.equal((await runProgram(directory, ['migrate'], env)).code, 0)
  const server = await startProgram(directory, 'server', env)
  const worker = await startProgram(directory, 'worker', env)
  await postgres.freeze()
  // A request that waits for the database when the stop begins.
  const waiting = fetch(`${server.ready.url}/v1/runs`, {
    headers: { authorization: `Bearer shl_live_${'a'.repeat(40)}` },
  })
  waiting.catch(() => {})
  const startedAt = performance.now()
  await Promise.all([server.stop(), worker.stop()])
  const stoppedMs = performance.now() - startedAt
  t.diagnostic(`stopped after ${(stoppedMs / 1000).toFixed(1)} s`)
  assert.ok(stoppedMs < STOPS_WITHIN_MS)
})
