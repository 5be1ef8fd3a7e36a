import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { parseStatements } from '../../src/platform/db/migrations/run-migration.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue, formatLoneParty, type Job } from '../../src/platform/queue/job.ts'
import { definePayload, text } from '../../src/platform/queue/payload.ts'
import { lockNextJob, SYSTEM_ORGANIZATION } from '../../src/platform/queue/running-jobs.store.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { clearJobs } from '../support/queue.ts'
import { until } from '../support/until.ts'

const WAIT_MS_MAX = 60_000
const MIGRATION = new URL('../../migrations/0052_one_job_asks_a_host.sql', import.meta.url)

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

test('two jobs that an earlier version runs for one host neither stop the upgrade nor let a third begin', async () => {
  await sql`drop index jobs_asking_alone`
  await sql`alter table jobs drop column asks_alone`
  const alone = formatLoneParty('host')
  const insertRunning = () => sql`
    insert into jobs (name, class, priority, attempts_max, payload, waits_for, state, worker_id, run_at)
    values ('test.asking', 'outside', 0, 1, ${sql.json({ host: alone })}, ${alone}, 'running', 'earlier', now())`
  await insertRunning()
  await insertRunning()
  for (const statement of parseStatements(readFileSync(MIGRATION, 'utf8'))) await sql.unsafe(statement).simple()
  await insertRunning()
  await enqueue(sql, asking, { host: alone })
  const turn = { afterOrganization: SYSTEM_ORGANIZATION, isSystemFirst: false, afterWaitedFor: '' }
  const opening = { class: 'outside' as const, turn, full: [], fullAwaited: [], fullParties: [] }
  assert.equal(await lockNextJob(sql, { workerId: 'later', names: ['test.asking'], openings: [opening] }), null)
})
