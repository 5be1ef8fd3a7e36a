import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import {
  updateConnection,
  updateDueAt,
  updateSyncEnded,
  updateSyncStarted,
} from '../../src/codehosts/sync/sync.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { runProgram } from '../support/program.ts'
import { connectAcme } from '../support/synchronize.ts'

const DAY_MS = 86_400_000
const POLLS_MAX = 100_000

let api: TestApi
let source: HostSource

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  await api.services.sql`update codehost_connections set status = 'removed'`
  source = await connectAcme(api.services, (await api.caller()).orgId)
})
after(() => api?.close())

const run = (...args: string[]) =>
  runProgram(api.services.config.dataDir, ['provider', 'sync', ...args], { DATABASE_URL: api.database.url })

async function requested() {
  const [row] = await api.services.sql<{ requested_at: Date | null; requested_since: Date | null }[]>`
    select requested_at, requested_since
    from codehost_syncs
    where connection_id = ${source.connection_id}`
  return row
}

/** What a worker does when it has read everything. */
async function endWhenRequested(work: () => Promise<void>): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    if ((await requested())?.requested_at) return work()
  }
  throw new Error('Nothing was requested')
}

test('provider sync queues a synchronization, and prints the connection', async () => {
  const { code, stdout, stderr } = await run(source.connection_id)
  assert.deepEqual([code, stdout], [0, `Queued a synchronization of acme (${source.connection_id})\n`], stderr)
  assert.ok((await requested())?.requested_at)
  const { json } = await run(source.connection_id.toUpperCase(), '--since', '30d', '--json')
  assert.deepEqual([json.id, json.status, json.sync.state], [source.connection_id, 'active', 'idle'])
  const since = (await requested())?.requested_since
  assert.ok(since && Math.abs(Date.now() - since.getTime() - 30 * DAY_MS) < DAY_MS)
})

test('provider sync --wait ends with the synchronization, and fails with it', async () => {
  const { sql, clock } = api.services
  await sql`update codehost_syncs set requested_at = null, requested_since = null`
  const ended = endWhenRequested(async () => {
    // The command has requested it at the time of the machine.
    await updateSyncStarted(sql, source.connection_id, new Date())
    await updateSyncEnded(sql, source, { state: 'idle', error: 'acme/shop, runs: Not Found' }, clock.now())
  })
  const { code, stdout, stderr } = await run(source.connection_id, '--wait')
  await ended
  const text = `Synchronized acme (${source.connection_id})\nacme/shop, runs: Not Found\n`
  assert.deepEqual([code, stdout], [0, text], stderr)
  const failed = endWhenRequested(() =>
    sql.begin(async (tx) => {
      await updateDueAt(tx, source, new Date(Date.now() + DAY_MS))
      await updateConnection(tx, source.connection_id, { sync_state: 'failed', sync_error: 'The host is down' })
    }),
  )
  const failure = await run(source.connection_id, '--wait')
  await failed
  assert.equal(failure.code, 1)
  assert.match(failure.stderr, /^The synchronization failed and is tried again later: The host is down$/m)
})

test('provider sync refuses connections that do not exist or are not active, and invalid times', async () => {
  const refusals: [args: string[], code: number, line: RegExp][] = [
    [['x'], 2, /^"x" is not a connection id/m],
    [['0f0e0d0c-0b0a-4908-8706-050403020100'], 1, /^The connection does not exist/m],
    [[source.connection_id, '--since', 'always'], 2, /^--since must be a time like 90d/m],
  ]
  for (const [args, code, line] of refusals) {
    const ended = await run(...args)
    assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr)
    assert.match(ended.stderr, line)
  }
  await api.services.sql`update codehost_connections set status = 'suspended' where id = ${source.connection_id}`
  assert.match((await run(source.connection_id)).stderr, /^The connection .* is suspended$/m)
})
