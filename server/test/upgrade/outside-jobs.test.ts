import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { sendCalls } from '../../src/codehosts/connections/send-call.job.ts'
import { syncJob } from '../../src/codehosts/sync/sync-connection.job.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { readUploadJob } from '../../src/security/uploads/read-upload.job.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const MIGRATION = readFileSync(new URL('../../migrations/0016_fairness.sql', import.meta.url), 'utf8')
const ORG = '00000000-0000-4000-8000-000000000001'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  await enqueue(sql, readUploadJob, { org_id: ORG, upload_id: 'u' })
  await enqueue(sql, syncJob, { org_id: ORG, connection_id: 'c' })
  await enqueue(sql, sendCalls, { org_id: ORG, subject_type: 'deployment', subject_id: 'd' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

const listPlaces = () => sql<{ name: string }[]>`select name, class, waits_for from jobs order by id`

test('the upgrade gives waiting jobs the places in which they are queued now', async () => {
  const queued = (await listPlaces()).map((row) => ({ ...row }))
  assert.deepEqual(queued, [
    { name: 'security.read-upload', class: 'bulk', waits_for: null },
    { name: 'codehosts.synchronize', class: 'outside_bulk', waits_for: 'c' },
    { name: 'codehosts.send-call', class: 'outside', waits_for: 'calls' },
  ])
  await sql`update jobs set class = case class when 'outside' then 'interactive' else 'bulk' end, waits_for = null`
  await sql.unsafe(/^update jobs[\s\S]*?;/m.exec(MIGRATION)?.[0] ?? assert.fail())
  assert.deepEqual(
    (await listPlaces()).map((row) => ({ ...row })),
    queued,
  )
})

test('a process of an earlier version can queue a job again that asks others', async () => {
  const insert = () => sql`
    insert into jobs (name, class, priority, attempts_max, payload, key, state, run_at)
    values ('codehosts.synchronize', 'bulk', 0, 5, '{}', 'codehosts.synchronize c', 'ready', now())
    on conflict (key) where key is not null and state <> 'running' do update set class = excluded.class`
  await insert()
  assert.equal((await listPlaces()).length, 3)
})
