import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { listScheduledRuns } from '../../src/platform/queue/queue.store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { listJobs } from '../support/queue.ts'

const MIGRATION = readFileSync(new URL('../../migrations/0002_jobs.sql', import.meta.url), 'utf8')
const ORGANIZATION = '00000000-0000-7000-8000-000000000001'
const AT = new Date('2026-03-01T10:00:00Z')

let database: TestDatabase
let sql: Sql

/** The tables of the earlier queue, with the columns that the migration reads. */
before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  await sql.unsafe(`
    create schema graphile_worker;
    create table graphile_worker._private_tasks (id int primary key, identifier text not null);
    create table graphile_worker._private_jobs (
      id bigint generated always as identity primary key, task_id int not null, payload json not null,
      priority smallint not null default 0, run_at timestamptz not null, attempts smallint not null default 0,
      max_attempts smallint not null default 25, last_error text, updated_at timestamptz not null default now(),
      key text unique, locked_by text, flags jsonb
    );
    create table graphile_worker._private_known_crontabs (identifier text primary key, last_execution timestamptz)`)
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

test('the jobs of the earlier queue are moved as they are, and its schema is dropped', async () => {
  await sql`insert into graphile_worker._private_tasks values (1, 'security.read-upload'), (2, 'codehosts.synchronize')`
  await sql`
    insert into graphile_worker._private_jobs (task_id, payload, priority, run_at, attempts, max_attempts, last_error, key, locked_by, flags)
    values
      (1, ${sql.json({ org_id: ORGANIZATION, upload_id: '1' })}, 0, ${AT}, 1, 5, 'no luck', null, null, '{"request r": true}'),
      (2, '{"connection_id": "2"}', 10, now() + interval '1 hour', 0, 5, null, 'codehosts.synchronize 2', null, null),
      (1, '{"upload_id": "3"}', 0, ${AT}, 1, 5, null, null, 'worker-a stopping', '{"interruptions": 2}'),
      (1, '{"upload_id": "4"}', 0, ${AT}, 5, 5, 'no luck', null, null, null)`
  await sql`insert into graphile_worker._private_known_crontabs values ('retention.start', ${AT}), ('objects.sweep', null)`
  await sql.unsafe(/^do \$\$[\s\S]*/m.exec(MIGRATION)?.[0] ?? assert.fail())
  assert.deepEqual(
    (await listJobs(sql)).map(({ name, payload, key, state, attempts, interruptions, worker_id, last_error }) => {
      return [name, payload, key, state, attempts, interruptions, worker_id, last_error]
    }),
    [
      ['security.read-upload', { org_id: ORGANIZATION, upload_id: '1' }, null, 'ready', 1, 0, null, 'no luck'],
      ['codehosts.synchronize', { connection_id: '2' }, 'codehosts.synchronize 2', 'scheduled', 0, 0, null, null],
      ['security.read-upload', { upload_id: '3' }, null, 'running', 1, 2, 'worker-a', null],
      ['security.read-upload', { upload_id: '4' }, null, 'failed', 5, 0, null, 'no luck'],
    ],
  )
  assert.deepEqual(
    [...(await listScheduledRuns(sql))],
    [
      { name: 'objects.sweep', last_execution: null },
      { name: 'retention.start', last_execution: AT },
    ],
  )
  const [left] = await sql<[{ schema: string | null }]>`select to_regnamespace('graphile_worker')::text as schema`
  assert.equal(left.schema, null)
})
