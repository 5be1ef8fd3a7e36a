import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { copyAll, openCopy } from '../src/platform/db/table-copy.ts'
import { metrics } from '../src/platform/metrics.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'statements' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

/** Statements in progress: running, and waiting for a connection. */
async function inProgress(): Promise<number[]> {
  const found = await metrics.getSingleMetric('shiplock_database_statements')?.get()
  return ['running', 'waiting'].map((state) => found?.values.find(({ labels }) => labels.state === state)?.value ?? 0)
}

test('statements in progress are counted until they end, whether they succeed, fail or copy rows', async () => {
  await sql`select 1`
  const { waiting } = await sql.begin(async (tx) => {
    await tx`create temporary table numbers (number integer) on commit drop`
    await copyAll(await openCopy(tx, 'numbers', ['number']), [['1'], ['2']])
    const waiting = Promise.all([sql`select 1`, sql`select 2`])
    await tx`select 1`
    assert.deepEqual(await inProgress(), [0, 2])
    return { waiting }
  })
  await waiting
  await assert.rejects(async () => sql`select 1 / 0`, /division by zero/)
  assert.deepEqual(await inProgress(), [0, 0])
})

for (const kind of ['statements', 'transactions'] as const)
  test(`a minor garbage collection frees ${kind} that have ended, with their results`, async () => {
    // In a thread, because the test runner follows all promises of its own.
    const program = new URL('./support/memory-of-statements.ts', import.meta.url)
    const thread = new Worker(program, { workerData: { connection: database.connection, kind } })
    const [{ kept, read }] = await once(thread, 'message')
    await once(thread, 'exit')
    assert.ok(kept < read / 2, `${kept} bytes are kept of results of ${read} bytes`)
  })
