import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrations/migrate.ts'
import { MIGRATIONS } from '../../src/platform/db/migrations/read-migrations.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { removeExpiredJob } from '../../src/retention/remove-expired.job.ts'
import { findState } from '../../src/retention/retention.store.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { type RunLoad, startRunLoad } from '../support/run-load.ts'
import { until } from '../support/until.ts'

const CLIENTS = 2
const DEADLINE_MS = 120_000

let root: string
let dataDir: string
let postgres: EmbeddedPostgres
let sql: Sql
let server: Running
let worker: Running
let key: string

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'shiplock-rolling-'))
  dataDir = join(root, 'data')
  await runProgram(dataDir, ['org', 'create', 'acme', '--json'])
  const scopes = ['--scope', 'write:ci', '--scope', 'read:pipelines']
  key = (await runProgram(dataDir, ['key', 'create', '--org', 'acme', '--name', 'test', ...scopes, '--json'])).json.key
  postgres = await openEmbeddedPostgres({ dataDir })
  sql = openSql(postgres.connection, { max: 2, applicationName: 'test' })
  server = await startProgram(dataDir, 'server', { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0' })
  worker = await startProgram(dataDir, 'worker')
})
after(async () => {
  await Promise.all([server?.stop(), worker?.stop()])
  await sql?.end()
  await postgres?.close()
  rmSync(root, { recursive: true, force: true })
})

/** The migrations of a later version, which add what this one does not know. */
function laterMigrations(): URL {
  const directory = join(root, 'migrations')
  cpSync(fileURLToPath(MIGRATIONS), directory, { recursive: true })
  writeFileSync(join(directory, '9001_later_column.sql'), 'alter table ci_runs add column later text;')
  const index = 'create index concurrently if not exists ci_runs_later on ci_runs (org_id, later);'
  writeFileSync(join(directory, '9002_later_index.sql'), `-- run: statement by statement\n${index}\n`)
  return pathToFileURL(`${directory}/`)
}

async function untilMoreRuns(load: RunLoad): Promise<void> {
  const { size } = load.acknowledged
  await until('runs are created', DEADLINE_MS, () => load.acknowledged.size >= size + 10)
}

test('processes of the earlier version keep working while a later one migrates and after that', async () => {
  const load = startRunLoad({ keys: [key], clients: CLIENTS, nextUrl: () => server.ready.url, retryMs: 100 })
  try {
    await untilMoreRuns(load)
    assert.deepEqual(await migrate(sql, { directory: laterMigrations() }), [
      '9001_later_column.sql',
      '9002_later_index.sql',
    ])
    await untilMoreRuns(load)
  } finally {
    await load.stop()
  }
  assert.deepEqual([load.failures, load.unavailableAt], [[], []])
  const listed = await fetch(`${server.ready.url}/v1/runs?limit=5`, { headers: { authorization: `Bearer ${key}` } })
  const { data } = (await listed.json()) as { data: unknown[] }
  assert.equal(data.length, 5)
  await enqueue(sql, removeExpiredJob, {})
  await until('the worker has run a job', DEADLINE_MS, async () => (await findState(sql))?.is_finished === true)
})

for (const args of [['server'], ['worker'], ['start'], ['migrate'], ['retention', 'run'], ['org', 'list']])
  test(`after that, "${args.join(' ')}" of the earlier version is refused`, { timeout: DEADLINE_MS }, async () => {
    const { code, stderr } = await runProgram(dataDir, args)
    assert.equal(code, 1, stderr)
    assert.match(
      stderr,
      /^The database is newer than this program: it has the schema 9002 \(9002_later_index\.sql and 1 more\), and this/m,
    )
  })
