import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { createTestDatabase } from '../../../test/support/database.ts'
import { copyTable } from './copy-out.ts'
import { openSql } from './sql.ts'

test('the connection is usable after every length of a table', {
  timeout: 120_000,
}, async () => {
  const database = await createTestDatabase()
  const sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  const table = { name: 'public.copied', columns: ['text'], is_partitioned: false, bytes: 0 }
  try {
    await sql`create table copied (text text)`
    for (let rows = 0; rows < 400; rows += 7) {
      await sql`truncate copied`
      await sql`insert into copied select repeat('x', 1000) from generate_series(1, ${rows}::int)`
      await sql.begin(async (tx) => {
        const copied = copyTable(tx, table)
        assert.equal((await buffer(copied.bytes)).length, rows * 1001)
        assert.equal(copied.rows(), rows)
        await tx`select 1`
      })
    }
  } finally {
    await sql.end({ timeout: 0 })
    await database.drop()
  }
})
