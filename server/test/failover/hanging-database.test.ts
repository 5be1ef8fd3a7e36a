import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { Programs } from './programs.ts'

/** They give up after 40 s, later on a busy machine. PostgreSQL hangs until the test ends. */
const STOPS_WITHIN_MS = 150_000

test('server and worker stop by themselves while PostgreSQL hangs', async (t) => {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-hanging-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await PostgresServer.create(directory)
  opened.defer(() => postgres.close())
  const programs = opened.use(new Programs(directory, { DATABASE_URL: postgres.url }))
  assert.equal((await programs.run('migrate')).code, 0)
  const server = await programs.start('server')
  const worker = await programs.start('worker')
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
