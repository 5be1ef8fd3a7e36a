import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { insertOrganization } from '../../src/organizations/organization.store.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { citusWorkers, joinTestDatabase, useSql } from '../support/citus.ts'
import { createEmptyTestDatabase } from '../support/database.ts'
import { runAsProcess } from '../support/program.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-citus-'))
const ORGANIZATIONS = 20
let database: Awaited<ReturnType<typeof createEmptyTestDatabase>>

before(async () => {
  database = await createEmptyTestDatabase()
  assert.equal(await joinTestDatabase(database), true)
  await migrated()
  await useSql(database.connection, async (sql) => {
    for (let number = 0; number < ORGANIZATIONS; number += 1) {
      const id = createUuid(new Date())
      await insertOrganization(sql, { id, slug: `org-${number}`, name: 'x', plan: 'enterprise' }, new Date())
      await sql`insert into triages (org_id, id, action, source, target_type, target_ids, created_at)
        values (${id}, gen_random_uuid(), 'reopen', 'shiplock', 'issue', '{}', now())`
    }
  })
})
after(async () => {
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function migrated(...options: string[]) {
  const { code, json, stderr } = await runAsProcess(dataDir, ['migrate', ...options, '--json'], {
    DATABASE_URL: database.url,
  })
  assert.equal(code, 0, stderr)
  return json
}

const rows = () =>
  useSql(database.connection, async (sql) => {
    const [row] = await sql<[{ all: number; local: number }]>`
      select (select count(*) from triages)::int as all, pg_relation_size('triages')::int as local`
    return row
  })

test('a dry run moves nothing', async () => {
  const { distribution } = await migrated('--distribute', '--dry-run')
  assert.ok(distribution.distributed.includes('triages'))
  const [count] = await useSql(
    database.connection,
    (sql) => sql<[{ n: number }]>`select count(*)::int as n from pg_dist_partition`,
  )
  assert.equal(count.n, 0)
})

test('a running program is refused', async () => {
  await useSql(database.connection, async (sql) => {
    await sql`set application_name = 'shiplock api'`
    const refused = await runAsProcess(dataDir, ['migrate', '--distribute'], { DATABASE_URL: database.url })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /Shiplock is running on this database \(shiplock api\)/)
  })
})

test('tables are distributed with their rows; a repetition continues where one was interrupted', async () => {
  await useSql(database.connection, async (sql) => {
    // As if the command had ended after its first tables.
    await sql`alter table triages drop constraint triages_org_id_fkey`
    await sql`select create_distributed_table('triages', 'org_id', colocate_with => 'none')`
  })
  const first = await migrated('--distribute')
  assert.ok(first.distribution.distributed.includes('ci_runs'))
  assert.ok(!first.distribution.distributed.includes('triages'))
  assert.ok(first.distribution.reference.includes('intel_kev'))
  assert.deepEqual(await rows(), { all: ORGANIZATIONS, local: 0 })
  const second = await migrated('--distribute')
  assert.deepEqual([second.applied, second.distribution.distributed, second.distribution.reference], [[], [], []])
})

test('shards can be moved to another worker', async () => {
  await useSql(database.connection, async (sql) => {
    const [from, to] = citusWorkers()
    assert.ok(from && to)
    const [shard] = await sql<[{ id: number }]>`
      select shardid::int as id
      from pg_dist_shard
      join pg_dist_shard_placement using (shardid)
      where logicalrelid = 'ci_runs'::regclass
        and nodeport = ${from.port}
      limit 1`
    await sql`select citus_move_shard_placement(${shard.id}, ${from.host}, ${from.port}, ${to.host}, ${to.port})`
  })
  assert.equal((await rows()).all, ORGANIZATIONS)
})

test('a backup, and a server with a replica, are refused', async () => {
  const address = { DATABASE_URL: database.url }
  const backup = await runAsProcess(dataDir, ['backup', join(dataDir, 'copy')], address)
  assert.equal(backup.code, 1)
  assert.match(backup.stderr, /distributed over several database servers/)
  assert.equal(existsSync(join(dataDir, 'copy')), false)
  const env = { ...address, SHIPLOCK_PORT: '0', SHIPLOCK_DATABASE_READ_URL: database.url }
  const server = await runAsProcess(dataDir, ['server'], env)
  assert.match(server.stderr, /SHIPLOCK_DATABASE_READ_URL is for a database on one server/)
})

test('migrate distributes a table that is new, and server refuses to start before', async () => {
  await useSql(database.connection, (sql) =>
    sql.unsafe(
      'create table news (org_id uuid not null references organizations (id), id int, primary key (org_id, id))',
    ),
  )
  const refused = await runAsProcess(dataDir, ['server'], { DATABASE_URL: database.url, SHIPLOCK_PORT: '0' })
  assert.match(refused.stderr, /not up to date \(distribution\)/)
  assert.deepEqual((await migrated()).applied, ['distribution'])
  const [table] = await useSql(
    database.connection,
    (sql) =>
      sql<[{ n: number }]>`select count(*)::int as n from pg_dist_partition where logicalrelid = 'news'::regclass`,
  )
  assert.equal(table.n, 1)
})
