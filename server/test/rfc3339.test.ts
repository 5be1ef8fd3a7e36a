import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'rfc3339' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

const TIMES = [
  ...['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.999Z', '0099-12-31T23:59:59.001Z', '1900-02-28T23:59:59.900Z'],
  ...['1969-12-31T23:59:59.999Z', '2000-01-01T00:00:00.010Z', '2024-02-29T12:00:00.123Z', '9999-12-31T23:59:59.999Z'],
]

for (const zone of ['UTC', 'Asia/Kathmandu']) {
  test(`rfc3339 writes the milliseconds of the years 1 to 9999 in UTC, to a session in ${zone} too`, async () => {
    await sql`select set_config('TimeZone', ${zone}, false)`
    const rows = await sql<{ at: string }[]>`
      select rfc3339(at::timestamptz(3)) as at
      from unnest(${TIMES}::text[]) with ordinality as given (at, place)
      order by place`
    assert.deepEqual(
      rows.map((row) => row.at),
      TIMES,
    )
  })
}

test('rfc3339 of null is null', async () => {
  assert.deepEqual([...(await sql`select rfc3339(null) as at`)], [{ at: null }])
})

test('the planner inlines rfc3339: no function call is left', async () => {
  const [row] = await sql`explain (verbose, format json) select rfc3339(created_at) as at from ci_runs`
  assert.doesNotMatch(JSON.stringify(row), /rfc3339/)
})
