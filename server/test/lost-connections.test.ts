import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { isUnreachable } from '../src/platform/unreachable.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { type DatabasePlug, openDatabasePlug } from './support/database-plug.ts'

const CUTS = 150
const PAUSE_MS_MAX = 30
const CALLS_AT_ONCE = 6
const CALL_MS_MAX = 20_000
const POOL = 4

let database: TestDatabase
let plug: DatabasePlug
let sql: Sql

before(async () => {
  database = await createTestDatabase()
  plug = await openDatabasePlug(database.connection)
  sql = openSql(plug.connection, { max: POOL, applicationName: 'lost' })
})
after(async () => {
  await sql?.end({ timeout: 1 })
  await plug?.close()
  await database?.drop()
})

const call = (index: number) =>
  index % 2 === 0
    ? sql`select ${index}::int as n`
    : sql.begin(async (tx) => {
        await tx`select 1`
        await Promise.all([tx`select 2`, tx`select ${[1, 2]}::int[]`])
      })

/** Each call ends in time, well or as unreachable. */
async function endsInTime(index: number): Promise<void> {
  const ended = new AbortController()
  const late = delay(CALL_MS_MAX, 'late', ended)
  const end = call(index).then(
    () => 'done',
    (error) => (isUnreachable(error) ? 'unreachable' : Promise.reject(error)),
  )
  const how = await Promise.race([end, late]).finally(() => ended.abort())
  late.catch(() => {})
  assert.notEqual(how, 'late', 'a call has not ended')
}

test('connections that break at any moment end no process and hang no call', async () => {
  let isOver = false
  const callers = Array.from({ length: CALLS_AT_ONCE }, async (_, index) => {
    while (!isOver) await endsInTime(index)
  })
  for (let cuts = 0; cuts < CUTS; cuts += 1) {
    await delay(Math.random() * PAUSE_MS_MAX)
    await plug.pull()
    await plug.push()
  }
  isOver = true
  await Promise.all(callers)
  for (let index = 0; index < CALLS_AT_ONCE; index += 1) await call(index)
})

test('a transaction that has lost its connection runs no statement on another one', async () => {
  await sql`create table written (number integer)`
  const [inserted, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let late: Promise<unknown> = Promise.resolve()
  const lost = sql.begin(async (tx) => {
    await tx`insert into written values (1)`
    inserted.resolve()
    await continued.promise
    late = tx`insert into written values (2)`
    await late
  })
  await inserted.promise
  await plug.pull()
  await plug.push()
  await assert.rejects(lost, isUnreachable)
  await useAllConnections()
  continued.resolve()
  await delay(0)
  await assert.rejects(async () => late, isUnreachable)
  await useAllConnections()
  assert.deepEqual([...(await sql`select number from written`)], [])
})

test('a reserved connection that was lost and is released lets nobody into the transaction of another', async () => {
  await sql`create table kept (number integer)`
  const reserved = await sql.reserve()
  await reserved`select 1`
  await plug.pull()
  await plug.push()
  await useAllConnections()
  const { promise: rolledBack, resolve: rollBack } = Promise.withResolvers<void>()
  const transactions = Array.from({ length: POOL }, () =>
    sql.begin(async (tx) => {
      await tx`select 1`
      await rolledBack
      throw new Error('rolled back')
    }),
  )
  await assert.rejects(async () => reserved`select 1`, isUnreachable)
  reserved.release()
  const kept = Promise.resolve(sql`insert into kept values (1)`)
  await delay(0)
  rollBack()
  for (const { reason } of (await Promise.allSettled(transactions)) as PromiseRejectedResult[])
    assert.equal(String(reason), 'Error: rolled back')
  await kept
  assert.deepEqual([...(await sql`select number from kept`)], [{ number: 1 }])
})

/** All connections are open afterwards, and nothing that was sent before is on its way. */
async function useAllConnections(): Promise<void> {
  const statements = Array.from({ length: 2 * POOL }, () => sql`select pg_sleep(0.02)`)
  const settled = await Promise.allSettled(statements)
  if (settled.some(({ status }) => status === 'rejected')) await useAllConnections()
}
