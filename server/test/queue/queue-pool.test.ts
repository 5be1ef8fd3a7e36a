import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openQueuePool } from '../../src/platform/queue/queue-pool.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const lost = new Error('terminating connection due to administrator command')

test('a connection that is lost is reported, unless the pool is being closed', async () => {
  const reported: Error[] = []
  const pool = openQueuePool(database.url, (error) => reported.push(error))
  const client = await pool.connect()
  client.emit('error', lost)
  assert.deepEqual(reported, [lost])
  const ended = pool.end()
  client.emit('error', lost)
  client.release(true)
  await ended
  assert.deepEqual(reported, [lost])
})
