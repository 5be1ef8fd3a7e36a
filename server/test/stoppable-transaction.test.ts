import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { runStoppable } from '../src/platform/db/transaction.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

const LOCK = 77
const POLLS_MAX = 5000
const ROUND_TRIPS = 50

let database: TestDatabase
let sql: Sql
let observer: Sql

before(async () => {
  database = await createTestDatabase()
  observer = openSql(database.connection, { max: 2, applicationName: 'observer' })
})
after(async () => {
  await sql?.end()
  await observer?.end()
  await database?.drop()
})

const open = (max: number) => openSql(database.connection, { max, applicationName: 'stoppable' })

/** From now on, new connections send no cancel while the lock is held. */
async function delayCancels(): Promise<void> {
  await observer`create schema delaying`
  await observer.unsafe(`
    create function delaying.pg_cancel_backend(pid integer) returns boolean language sql as
    'select pg_catalog.pg_cancel_backend(pid) from pg_advisory_xact_lock(${LOCK})'`)
  await observer.unsafe(`alter database ${database.connection.database} set search_path = delaying, pg_catalog, public`)
}

async function untilCancelWaits(): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const [row] = await observer<[{ waiting: boolean }]>`
      select exists (
        select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted
      ) as waiting`
    if (row.waiting) return
  }
  throw new Error('No cancel was sent.')
}

test('a stopped transaction is cancelled when no connection of the pool is free', { timeout: 20_000 }, async () => {
  sql = open(1)
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const running = runStoppable(sql, stop.signal, async (tx) => {
    await tx`select 1`
    started.resolve()
    await tx`select pg_sleep(25)`
  })
  await started.promise
  const startedAt = performance.now()
  stop.abort(new Error('stopped'))
  await assert.rejects(running, { code: '57014' })
  assert.ok(performance.now() - startedAt < 10_000)
  await sql.end()
})

test('a transaction whose work ends after the stop is rolled back and rejected', async () => {
  sql = open(1)
  await sql`create table stopped (number integer)`
  const stop = new AbortController()
  const running = runStoppable(sql, stop.signal, async (tx) => {
    await tx`insert into stopped values (1)`
    stop.abort(new Error('stopped'))
  })
  await assert.rejects(running, /stopped/)
  assert.equal((await sql`select from stopped`).length, 0)
  await sql.end()
})

test('no cancel is sent after the connection has returned to the pool', { timeout: 30_000 }, async () => {
  await delayCancels()
  sql = open(2)
  const stop = new AbortController()
  const reached = Promise.withResolvers<void>()
  const work = Promise.withResolvers<void>()
  let settled = false
  const running = runStoppable(sql, stop.signal, async () => {
    reached.resolve()
    await work.promise
  }).finally(() => {
    settled = true
  })
  running.catch(() => {})
  await reached.promise
  const holder = await observer.reserve()
  await holder`select pg_advisory_lock(${LOCK})`
  stop.abort(new Error('stopped'))
  await untilCancelWaits()
  work.reject(new Error('ended'))
  for (let trips = 0; trips < ROUND_TRIPS; trips += 1) await observer`select 1`
  assert.equal(settled, false)
  await holder`select pg_advisory_unlock(${LOCK})`
  holder.release()
  await assert.rejects(running, /ended/)
})
