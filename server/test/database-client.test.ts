import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { getSqlState, openSql, type Sql } from '../src/platform/db/sql.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

let database: TestDatabase
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 2, applicationName: 'client' })
})
after(async () => {
  await sql?.end()
  await database?.drop()
})

const AT = new Date('2026-03-04T05:06:07.089Z')
/** A type, what is written as it, and what is read. */
const WRITTEN: [type: string, value: unknown, read?: unknown][] = [
  ['integer', 7],
  ['bigint', 9_007_199_254_740_991],
  ['bigint', 12n, 12],
  ['numeric', 1.5, '1.5'],
  ['double precision', 0.1],
  ['boolean', true],
  ['boolean', null],
  ['text', 'a "b" \\ \n é 🙂'],
  ['text', 5, '5'],
  ['text', true, 'true'],
  ['uuid', '00000000-0000-4000-8000-000000000001'],
  ['bytea', Buffer.from([0, 92, 255])],
  ['timestamptz', AT],
  ['timestamptz', AT.toISOString(), AT],
  ['date', '2026-03-04', new Date('2026-03-04')],
  ['jsonb', { a: [1, null, 'x'] }],
  ['jsonb', [{ a: 1 }, []]],
  ['jsonb', [], []],
  ['jsonb', 'text'],
  ['json', ['a']],
  ['text[]', []],
  ['text[]', ['a"b', 'c\\d', '{,}', 'NULL', '', null]],
  ['integer[]', [1, null, 3]],
  [
    'integer[]',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['bigint[]', [1, 2]],
  ['boolean[]', [true, false]],
  ['uuid[]', ['00000000-0000-4000-8000-000000000001']],
  ['timestamptz[]', [AT, null]],
  ['bytea[]', [Buffer.from([1, 92]), Buffer.alloc(0)]],
  ['jsonb[]', [{ a: 'b"c' }, ['d']]],
]

for (const [type, value, read = value] of WRITTEN)
  test(`a ${type} is read as it was written: ${JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))}`, async () => {
    const [row] = await sql<[{ value: unknown }]>`select ${value as never}::${sql.unsafe(type)} as value`
    assert.deepEqual(row, { value: read })
  })

test('a value that has no form as its type is refused, and the connection goes on', async () => {
  await assert.rejects(async () => sql`select ${{ a: 1 } as never}::text`, /An object cannot be written/)
  await assert.rejects(async () => sql`select ${['a']}::text`, /An object cannot be written/)
  await assert.rejects(async () => sql`select ${undefined as never}::text`, { code: 'UNDEFINED_VALUE' })
  assert.deepEqual([...(await sql`select 1 as one`)], [{ one: 1 }])
})

test('names, lists, rows and assignments are written where they stand', async () => {
  await sql.begin(async (tx) => {
    await tx`create temporary table things (name text, size integer, data jsonb) on commit drop`
    await tx`insert into things ${tx([
      { name: 'a', size: 1, data: tx.json([]) },
      { name: 'b', size: 2, data: null },
    ])}`
    await tx`update ${tx('things')} set ${tx({ size: 3, data: tx.json({ a: 1 }) })} where name in ${tx(['b', 'c'])}`
    const rows = await tx`select ${tx(['name', 'size', 'data'])} from things ${[tx`where true`, tx`order by name`]}`
    assert.deepEqual(
      [...rows],
      [
        { name: 'a', size: 1, data: [] },
        { name: 'b', size: 3, data: { a: 1 } },
      ],
    )
    assert.equal((await tx`delete from things where name in ${tx([])}`).count, 0)
  })
})

test('a cursor reads rows in batches, and can be left early', async () => {
  const sizes: number[] = []
  for await (const rows of sql`select from generate_series(1, ${5}::int)`.cursor(2)) sizes.push(rows.length)
  assert.deepEqual(sizes, [2, 2, 1])
  for await (const rows of sql<{ n: number }[]>`select n from generate_series(1, 5) n`.cursor(1)) {
    assert.equal(rows[0]?.n, 1)
    break
  }
  assert.equal((await sql`select 1`).count, 1)
})

test('a statement is prepared again when the table that it reads has changed', async () => {
  const one = openSql(database.connection, { max: 1, applicationName: 'changed' })
  await one`create table changed (a integer)`
  const read = () => one`select * from changed where a > ${0}`
  await one`insert into changed values (1)`
  assert.deepEqual([...(await read())], [{ a: 1 }])
  await one`alter table changed add column b text default 'x'`
  assert.deepEqual([...(await read())], [{ a: 1, b: 'x' }])
  await one.end()
})

test('more texts than are kept prepared can be used on one connection', async () => {
  const one = openSql(database.connection, { max: 1, applicationName: 'many' })
  for (let number = 0; number < 600; number += 1) await one`select ${one.unsafe(String(number))} + ${1}::int`
  const [row] = await one<[{ count: number }]>`select count(*)::int as count from pg_prepared_statements`
  assert.ok(row.count < 300, `${row.count} are prepared`)
  await one.end()
})

test('a failed statement fails its transaction, also if its error is caught, but not after a savepoint', async () => {
  const caught = sql.begin(async (tx) => {
    await tx`select 1 / 0`.catch(() => {})
    return 'done'
  })
  await assert.rejects(caught, (error) => getSqlState(error) === '22012')
  const result = await sql.begin(async (tx) => {
    await tx.savepoint((nested) => nested`select 1 / 0`).catch(() => {})
    const [row] = await tx<[{ one: number }]>`select 1 as one`
    return row.one
  })
  assert.equal(result, 1)
})

test('statements of one transaction that are sent at once are answered in their order', async () => {
  const answers = await sql.begin((tx) =>
    Promise.all(Array.from({ length: 50 }, (_, number) => tx<[{ n: number }]>`select ${number}::int as n`)),
  )
  assert.deepEqual(
    answers.map(([{ n }]) => n),
    Array.from({ length: 50 }, (_, number) => number),
  )
})

test('notifications arrive, and again after the connection was lost', async () => {
  const payloads: string[] = []
  let listening = 0
  const subscription = await sql.listen(
    'news',
    (payload) => payloads.push(payload),
    () => {
      listening += 1
    },
  )
  await sql`select pg_notify('news', 'first')`
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "news"'`
  while (listening < 2) await delay(10)
  await sql`select pg_notify('news', 'second')`
  while (payloads.length < 2) await delay(10)
  assert.deepEqual(payloads, ['first', 'second'])
  await subscription.unlisten()
})

test('a pool that has ended refuses statements', async () => {
  const ended = openSql(database.connection, { max: 1, applicationName: 'ended' })
  await ended`select 1`
  await ended.end()
  await assert.rejects(async () => ended`select 1`, { code: 'CONNECTION_ENDED' })
  const busy = openSql(database.connection, { max: 1, applicationName: 'busy' })
  const sleeping = assert.rejects(async () => busy`select pg_sleep(60)`, { code: 'CONNECTION_DESTROYED' })
  await delay(100)
  await busy.end({ timeout: 0 })
  await sleeping
})
