import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { runAlone } from '../../src/platform/db/advisory-lock.ts'
import { removeAfterRest, removeExpiredDaily, removeExpiredJob } from '../../src/retention/remove-expired.job.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { findState } from '../../src/retention/retention.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { clearJobs, listJobs } from '../support/queue.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
  await api.caller()
  await api.caller()
})
beforeEach(async () => {
  await clearJobs(api.services.sql)
})
after(() => api?.close())

/** Minutes until the queued jobs start. */
async function queued(): Promise<number[]> {
  const jobs = await listJobs(api.services.sql, 'retention.remove-expired')
  return jobs.map(({ seconds_left }) => Math.round(seconds_left / 60) || 0)
}

const finish = () => removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })

test('the first start queues a run in five minutes, once however many workers start', async () => {
  await Promise.all([removeAfterRest(api.services), removeAfterRest(api.services)])
  assert.deepEqual(await queued(), [5])
})

test('a start within a day after a run queues nothing, and a later one does', async () => {
  await finish()
  await removeAfterRest(api.services)
  api.clock.advance(DAY_MS)
  await removeAfterRest(api.services)
  assert.deepEqual(await queued(), [])
  api.clock.advance(MINUTE_MS)
  await removeAfterRest(api.services)
  assert.deepEqual(await queued(), [5])
})

test('a start after a clock was set back queues a run', async () => {
  await finish()
  api.clock.advance(-2 * DAY_MS)
  await removeAfterRest(api.services)
  api.clock.advance(2 * DAY_MS)
  assert.deepEqual(await queued(), [5])
})

test('a run whose time is over is continued by the next job, and a start finds it unfinished', async () => {
  assert.equal(await removeExpired(api.services, { sliceMs: 0 }), 'unfinished')
  assert.equal((await findState(api.services.sql))?.is_finished, false)
  await removeAfterRest(api.services)
  assert.deepEqual(await queued(), [5])
  assert.equal(await finish(), 'finished')
})

test('while another process removes, the job does nothing', async () => {
  await runAlone(api.services.sql, 'retention', async () => {
    assert.equal(await finish(), 'busy')
    await removeExpiredJob.run(api.services, {} as never)
  })
  assert.deepEqual(await queued(), [])
})

test('the daily job queues a run that starts at once', async () => {
  await removeExpiredDaily.run(api.services, {})
  assert.deepEqual(await queued(), [0])
})
