import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue, type Job } from '../../src/platform/queue/job.ts'
import { definePayload, text } from '../../src/platform/queue/payload.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { clearJobs } from '../support/queue.ts'
import { until } from '../support/until.ts'

const WAIT_MS_MAX = 60_000

const asking: Job<string[], { host: string }> = {
  name: 'test.asking',
  payload: definePayload({ host: text }),
  attemptsMax: 1,
  waitsFor: ({ host }) => host,
  once: ({ host }) => host,
  async run(ran, { host }) {
    ran.push(host)
  },
}

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 2, applicationName: 'test' })
})
beforeEach(() => clearJobs(sql))
after(async () => {
  await sql?.end()
  await database?.drop()
})

/** As a process of the earlier version does it, which knows neither the classes nor the column. */
const enqueueAsBefore = (host: string) => sql`
  insert into jobs (name, class, priority, attempts_max, payload, key, state, run_at)
  values ('test.asking', 'bulk', 0, 1, ${sql.json({ host })}, ${`test.asking ${host}`}, 'ready', now())
  on conflict (key) where key is not null and state <> 'running' do update set class = excluded.class`

async function work(count: number): Promise<string[]> {
  const ran: string[] = []
  const jobs = [asking] as Job<string[], never>[]
  const options = {
    address: database.connection,
    context: ran,
    scheduled: [],
    log: createLog('silent'),
    concurrency: 1,
  }
  const worker = await startWorker({ ...options, jobs })
  await until('the jobs have run', WAIT_MS_MAX, () => ran.length === count)
  await worker.stop(WAIT_MS_MAX)
  return ran
}

test('what waits since before the upgrade is run', async () => {
  await enqueueAsBefore('a')
  assert.deepEqual(await work(1), ['a'])
})

test('a process of the earlier version can queue a job again that asks others, and the other way round', async () => {
  await enqueue(sql, asking, { host: 'a' })
  await enqueueAsBefore('a')
  await enqueueAsBefore('b')
  await enqueue(sql, asking, { host: 'b' })
  assert.deepEqual((await work(2)).sort(), ['a', 'b'])
})
