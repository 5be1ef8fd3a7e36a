import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scheduledJobs } from '../../src/jobs.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { listScheduledRuns } from '../../src/platform/queue/queue.store.ts'
import { computeLastMinute, openSchedule, parseSchedule } from '../../src/platform/queue/schedule.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { clearJobs, listJobs } from '../support/queue.ts'

const MINUTE_MS = 60_000

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 2, applicationName: 'test' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

const at = (text: string) => new Date(`${text}Z`)

for (const [schedule, after, until, last] of [
  ['* * * * *', '2026-03-01T10:00:30', '2026-03-01T10:01:00', '2026-03-01T10:01'],
  ['* * * * *', '2026-03-01T10:00:30', '2026-03-01T10:00:59', null],
  ['* * * * *', '2026-03-01T10:00:00', '2026-03-01T10:07:12', '2026-03-01T10:07'],
  ['23 * * * *', '2026-03-01T10:22:59', '2026-03-01T10:23:01', '2026-03-01T10:23'],
  ['23 * * * *', '2026-03-01T10:23:00', '2026-03-01T11:22:59', null],
  ['41 3 * * *', '2026-02-28T23:00:00', '2026-03-01T05:00:00', '2026-03-01T03:41'],
  ['20 3 * * 0', '2026-02-28T00:00:00', '2026-03-07T23:59:59', '2026-03-01T03:20'],
  ['0 0 1 1 *', '2026-03-01T00:00:00', '2027-01-01T00:00:00', '2027-01-01T00:00'],
] as const)
  test(`${schedule} after ${after} and until ${until}: ${last ?? 'nothing'}`, () => {
    const found = computeLastMinute(parseSchedule(schedule), at(after), at(until))
    assert.deepEqual(found, last === null ? null : at(`${last}:00`))
  })

for (const schedule of [
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '*/5 * * * *',
  '1-3 * * * *',
  '1 1 1 * 1',
])
  test(`the schedule "${schedule}" is refused`, () => {
    assert.throws(() => parseSchedule(schedule), /is not supported/)
  })

test('the schedules of all jobs can be read', () => {
  for (const { schedule } of scheduledJobs) parseSchedule(schedule)
})

test('a scheduled job is queued once by all workers, also when several minutes have passed, and its start is known', async () => {
  const scheduled = [
    { name: 'test.each-minute', schedule: '* * * * *', run: async () => {} },
    { name: 'test.yearly', class: 'bulk' as const, schedule: '0 0 1 1 *', run: async () => {} },
  ]
  const workers = await Promise.all([
    openSchedule(sql, scheduled, new Date()),
    openSchedule(sql, scheduled, new Date()),
  ])
  const now = Date.now()
  for (const queueDue of workers) await queueDue(new Date(now + 3 * MINUTE_MS))
  assert.deepEqual(
    (await listJobs(sql)).map(({ name, payload, state }) => ({ name, payload, state })),
    [{ name: 'test.each-minute', payload: {}, state: 'ready' }],
  )
  await clearJobs(sql)
  for (const queueDue of workers) await queueDue(new Date(now + 3 * MINUTE_MS))
  assert.deepEqual(await listJobs(sql), [])
  const minute = Math.floor((now + 3 * MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  assert.deepEqual(
    [...(await listScheduledRuns(sql))],
    [
      { name: 'test.each-minute', last_execution: new Date(minute) },
      { name: 'test.yearly', last_execution: null },
    ],
  )
})

test('long work of the system waits once, for a slot of its own', async () => {
  const scheduled = [{ name: 'test.long', class: 'bulk' as const, schedule: '* * * * *', run: async () => {} }]
  const now = Date.now()
  const queueDue = await openSchedule(sql, scheduled, new Date(now))
  for (const minutes of [2, 3]) await queueDue(new Date(now + minutes * MINUTE_MS))
  const [job, ...others] = await sql`select class, waits_for from jobs where name = 'test.long'`
  assert.deepEqual([job?.class, job?.waits_for, others], ['outside_bulk', 'test.long', []])
})

test('a job that starts with the worker is queued at once, and again at its times', async () => {
  await clearJobs(sql)
  const job = { name: 'test.at-start', class: 'bulk' as const, schedule: '* * * * *', run: async () => {} }
  const queueDue = await openSchedule(sql, [{ ...job, startsWithWorker: true }], new Date())
  assert.deepEqual(
    (await listJobs(sql)).map(({ name }) => name),
    ['test.at-start'],
  )
  await clearJobs(sql)
  await queueDue(new Date(Date.now() + MINUTE_MS))
  assert.equal((await listJobs(sql)).length, 1)
  const withWorker = scheduledJobs.filter(({ startsWithWorker }) => startsWithWorker)
  assert.deepEqual(
    withWorker.map(({ name }) => name),
    ['ci.normalize-addresses'],
  )
})
