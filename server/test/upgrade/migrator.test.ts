import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createEmptyTestDatabase, type TestDatabase } from '../support/database.ts'
import { interruptMigrations } from '../support/upgrade/interrupt-migrations.ts'

const root = mkdtempSync(join(tmpdir(), 'shiplock-migrations-'))
after(() => rmSync(root, { recursive: true, force: true }))

const BATCHES = `-- run: batches of things
with batch as (
  select id from things where id > coalesce($1::text::int, 0) order by id limit 100
), changed as (
  update things set doubled = id * 2, writes = writes + 1 where id in (select id from batch)
)
select max(id)::text as position, count(*)::int as rows from batch
`
const INDEX = `-- run: statement by statement
create index concurrently if not exists things_by_doubled on things (doubled);
`

let directory: string
let database: TestDatabase
let sql: Sql

beforeEach(async () => {
  directory = mkdtempSync(join(root, 'm-'))
  database = await createEmptyTestDatabase()
  sql = openSql(database.connection, { max: 4, applicationName: 'migrator test' })
  write('0001_things.sql', 'create table things (id int primary key, doubled int, writes int not null default 0);')
})

afterEach(async () => {
  await sql.end()
  await database.drop()
})

test('batches handle every row once, and another run has nothing to do', async () => {
  await migrateThings(1050)
  write('0002_doubled.sql', BATCHES)
  const steps: number[] = []

  assert.deepEqual(await run((rows) => steps.push(rows)), ['0002_doubled.sql'])
  assert.deepEqual(steps.slice(0, 2), [100, 200])
  assert.equal(steps.at(-1), 1050)
  assert.deepEqual(await outcome(), { rows: 1050, doubled: 1050, writes: 1050 })
  assert.deepEqual(await run(), [])
})

test('batches that fail continue after the last complete batch', async () => {
  await migrateThings(1000)
  write('0002_doubled.sql', BATCHES)
  await sql`alter table things add constraint broken check (id <> 555 or doubled is null)`
  await assert.rejects(run(), /broken/)
  await sql`alter table things drop constraint broken`

  assert.deepEqual(await run(), ['0002_doubled.sql'])
  assert.deepEqual(await outcome(), { rows: 1000, doubled: 1000, writes: 1000 })
})

test('a migrator that is killed again and again reaches the same end', async () => {
  await migrateThings(4000)
  write('0002_doubled.sql', BATCHES)
  write('0003_index.sql', INDEX)

  const kills = await interruptMigrations(database.url, directory, 4)
  await run()
  assert.ok(kills >= 1, 'no process was killed')
  assert.deepEqual(await outcome(), { rows: 4000, doubled: 4000, writes: 4000 })
  assert.deepEqual(await indexes(), [{ name: 'things_by_doubled', valid: true }])
})

test('two migrators at the same time apply each migration once', async () => {
  write('0002_rows.sql', 'insert into things (id) select generate_series(1, 500);')
  write('0003_doubled.sql', BATCHES)
  write('0004_index.sql', INDEX)
  const other = openSql(database.connection, { max: 1, applicationName: 'other migrator' })
  const [first, second] = await Promise.all([run(), migrate(other, { directory: url() })]).finally(() => other.end())

  assert.deepEqual([...new Set([...first, ...second])].sort(), [
    '0001_things.sql',
    '0002_rows.sql',
    '0003_doubled.sql',
    '0004_index.sql',
  ])
  assert.deepEqual(await outcome(), { rows: 500, doubled: 500, writes: 500 })
  assert.deepEqual(await run(), [])
})

test('an index that an interruption left invalid is built again', async () => {
  await migrateThings(10)
  await sql`insert into things (id, doubled) values (11, 1), (12, 1)`
  write('0002_index.sql', INDEX.replace('create index', 'create unique index'))
  await assert.rejects(run(), /could not create unique index/)
  assert.deepEqual(await indexes(), [{ name: 'things_by_doubled', valid: false }])

  await sql`delete from things where id = 12`
  assert.deepEqual(await run(), ['0002_index.sql'])
  assert.deepEqual(await indexes(), [{ name: 'things_by_doubled', valid: true }])
})

test('a migration that waits for a table makes way for readers', async () => {
  await migrateThings(10)
  write('0002_column.sql', 'alter table things add column name text;')
  const held = Promise.withResolvers<void>()
  const holding = Promise.withResolvers<void>()
  const holder = sql.begin(async (tx) => {
    await tx`select from things`
    holding.resolve()
    await held.promise
  })
  await holding.promise
  const migrating = run()
  await untilLocked()

  // Behind a migration that waits without a limit, these would wait until the holder ends.
  for (let reads = 0; reads < 3; reads += 1) assert.equal((await sql`select id from things`).length, 10)
  held.resolve()
  await holder
  assert.deepEqual(await migrating, ['0002_column.sql'])
})

test('a database that a newer program has migrated is refused, with its schema and what to do', async () => {
  await migrateThings(1)
  await sql`insert into schema_migrations (name, checksum) values ('0002_later.sql', 'x'), ('0003_latest.sql', 'y')`
  await assert.rejects(run(), {
    message:
      'The database is newer than this program: it has the schema 0003 (0003_latest.sql and 1 more), and this program ' +
      'knows up to 0001. Run the version of Shiplock that migrated it, or a newer one; to go back, restore a backup from ' +
      'before the upgrade.',
  })
})

test('a migration that was changed after it was applied is refused', async () => {
  await migrateThings(1)
  write('0001_things.sql', 'create table things (id bigint primary key);')
  await assert.rejects(run(), /Migration 0001_things.sql was changed after it was applied/)
})

async function migrateThings(rows: number): Promise<void> {
  await run()
  await sql`insert into things (id) select generate_series(1, ${rows}::int)`
}

function write(name: string, text: string): void {
  writeFileSync(join(directory, name), text)
}

function url(): URL {
  return pathToFileURL(`${directory}/`)
}

function run(follow: (rows: number) => void = () => {}): Promise<string[]> {
  return migrate(sql, { directory: url(), follow })
}

async function outcome() {
  const [row] = await sql`
    select count(*)::int as rows, count(*) filter (where doubled = id * 2)::int as doubled, sum(writes)::int as writes
    from things`
  return { ...row }
}

async function indexes() {
  const rows = await sql<{ name: string; valid: boolean }[]>`
    select indexrelid::regclass::text as name, indisvalid as valid
    from pg_index
    where indrelid = 'things'::regclass
      and not indisprimary`
  return rows.map((row) => ({ ...row }))
}

/** Until a migration waits for the table. */
async function untilLocked(): Promise<void> {
  for (;;) {
    const rows = await sql`
      select from pg_locks
      where relation = 'things'::regclass
        and mode = 'AccessExclusiveLock'
        and not granted
        and database = (select oid from pg_database where datname = current_database())`
    if (rows.length > 0) return
  }
}
