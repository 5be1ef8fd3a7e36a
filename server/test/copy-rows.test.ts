import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { copyAll, openCopy } from '../src/platform/db/table-copy.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'copy-rows' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

/** Copies rows into a table with one column of numbers, and counts the rows of the table. */
async function copied(rows: string[][]): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`create temporary table numbers (number integer) on commit drop`
    await copyAll(await openCopy(tx, 'numbers', ['number']), rows)
    const [row] = await tx<[{ count: number }]>`select count(*)::integer as count from numbers`
    return row.count
  })
}

test('rows are stored when the COPY has ended, also if there are none', async () => {
  assert.equal(await copied([['1'], ['2']]), 2)
  assert.equal(await copied([]), 0)
})

test('a row that PostgreSQL refuses ends the COPY with its message, whichever row it is', async () => {
  const many = Array.from({ length: 200_000 }, (_, number) => [`${number}`])
  for (const rows of [
    [['1'], ['no number']],
    [['no number'], ...many],
  ]) {
    await assert.rejects(copied(rows), /invalid input syntax for type integer: "no number"/)
  }
  assert.equal(await copied([['1']]), 1)
})
