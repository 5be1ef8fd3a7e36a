import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runAlone } from '../src/platform/db/advisory-lock.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'

let database: TestDatabase
let sql: Sql
let other: Sql

before(async () => {
  database = await createTestDatabase()
  sql = openSql(database.connection, { max: 3, applicationName: 'locks' })
  other = openSql(database.connection, { max: 3, applicationName: 'other process' })
})
after(async () => {
  await sql?.end()
  await other?.end()
  await database?.drop()
})

/** Ends the connection that holds the locks of the first process. */
async function loseConnection(): Promise<void> {
  await other`
    select pg_terminate_backend(pid)
    from pg_locks
    join pg_stat_activity using (pid)
    where locktype = 'advisory'
      and datname = current_database()
      and application_name = 'locks'`
}

/** Work that runs until it is ended. */
function startHeld(name: string) {
  const started = Promise.withResolvers<void>()
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const ended = runAlone(sql, name, () => {
    started.resolve()
    return promise
  })
  return { started: started.promise, end, ended }
}

test('many locks of a process need one connection', async () => {
  const held = Array.from({ length: 20 }, (_, index) => startHeld(`one of many ${index}`))
  await Promise.all(held.map(({ started }) => started))
  assert.equal(await runAlone(other, 'one of many 3', async () => {}), false)
  for (const { end } of held) end()
  assert.deepEqual(new Set(await Promise.all(held.map(({ ended }) => ended))), new Set([true]))
  assert.equal(await runAlone(other, 'one of many 3', async () => {}), true)
})

test('a lost connection makes no finished work a failure, and the next work takes the locks again', async () => {
  const [first, second] = [startHeld('first'), startHeld('second')]
  await Promise.all([first.started, second.started])
  await loseConnection()
  first.end()
  assert.equal(await first.ended, true)
  assert.equal(await runAlone(sql, 'second', async () => {}), false)
  const third = startHeld('third')
  await third.started
  assert.equal(await runAlone(other, 'second', async () => {}), false)
  for (const { end } of [second, third]) end()
  assert.deepEqual(await Promise.all([second.ended, third.ended]), [true, true])
  for (const name of ['first', 'second', 'third']) assert.equal(await runAlone(other, name, async () => {}), true)
})

test('work that begins just after the connection was lost gets another one', async () => {
  const first = startHeld('before')
  await first.started
  await loseConnection()
  assert.equal(await runAlone(sql, 'after', async () => {}), true)
  assert.equal(await runAlone(other, 'before', async () => {}), false)
  first.end()
  assert.equal(await first.ended, true)
})
