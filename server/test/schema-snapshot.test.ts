import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { describeSchema, undescribedObjects } from './support/describe-schema.ts'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'schema' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

test('schema.sql is the result of the migrations', async () => {
  const committed = await readFile(new URL('../schema.sql', import.meta.url), 'utf8')
  assert.equal(await describeSchema(sql), committed, 'regenerate it: npm run schema --workspace server')
})

test('schema.sql shows everything that the migrations create', async () => {
  assert.deepEqual(await undescribedObjects(sql), [])
})

test('a change of the schema changes its description', async () => {
  const before = await describeSchema(sql)
  const changes = [
    'alter table organizations alter column name drop not null',
    "alter table organizations alter column name set default 'x'",
    'alter table organizations add check (length(slug) < 60)',
    'create index on organizations (created_at)',
    'create function one() returns int language sql return 1',
  ]
  for (const change of changes) assert.notEqual(await describeAfter(change), before, change)
  assert.equal(await describeSchema(sql), before)
})

/** The description with a change that is rolled back. */
async function describeAfter(change: string): Promise<string> {
  const connection = await sql.reserve()
  try {
    await connection`begin`
    await connection.unsafe(change)
    return await describeSchema(connection)
  } finally {
    await connection`rollback`
    connection.release()
  }
}
