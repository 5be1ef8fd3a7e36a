import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { settleOverdueRuns } from '../../../../../src/ci/runs/settle-overdue-runs.job.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createRun, patchRun, postRun } from '../../../../support/ci-runs.ts'
import type { Json } from '../../../../support/json.ts'

const MINUTE_MS = 60_000

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function read({ key }: Caller, id: string): Promise<Json> {
  return (await api.request('GET', `/v1/runs/${id}`, { key })).body.data
}

async function listed({ key }: Caller, status: string): Promise<string[]> {
  const { body } = await api.request('GET', `/v1/runs?status=${status}`, { key })
  return body.data.map((run: Json) => run.id)
}

for (const status of ['queued', 'in_progress']) {
  test(`a ${status} run past its deadline is never shown as open, even before it is settled`, async () => {
    const caller = await api.caller()
    const run = await createRun(api, caller, { status, timeout_minutes: 5 })
    api.clock.advance(5 * MINUTE_MS - 1)
    assert.equal((await read(caller, run.id)).status, status)
    api.clock.advance(1)
    const late = await read(caller, run.id)
    assert.deepEqual([late.status, late.completed_at, late.duration_seconds], ['timed_out', run.deadline_at, 300])
    assert.deepEqual([late.attempts[0].status, late.attempts[0].completed_at], ['timed_out', run.deadline_at])
    assert.deepEqual([await listed(caller, status), await listed(caller, 'timed_out')], [[], [run.id]])
    const again = await postRun(api, caller, { external_run_id: run.external_run_id })
    assert.deepEqual([again.status, again.body.data.status], [200, 'timed_out'])
  })
}

test('the job settles overdue attempts and no others', async () => {
  const caller = await api.caller()
  const overdue = await createRun(api, caller, { timeout_minutes: 5 })
  const open = await createRun(api, caller, { timeout_minutes: 6 })
  const done = await createRun(api, caller, { timeout_minutes: 5 })
  await patchRun(api, caller, done.id, { status: 'success' })
  api.clock.advance(5 * MINUTE_MS)
  await settleOverdueRuns.run(api.services, {})
  const rows = await api.services.sql`
    select id, status, completed_at
    from ci_runs
    where org_id = ${caller.orgId}
    order by id`
  assert.deepEqual(
    rows.map((row) => [row.id, row.status]),
    [
      [overdue.id, 'timed_out'],
      [open.id, 'in_progress'],
      [done.id, 'success'],
    ],
  )
  assert.equal(rows[0]?.completed_at.toISOString(), overdue.deadline_at)
})

test('409 run_finished for another final status past the deadline, 200 for timed_out, settled or not', async () => {
  const caller = await api.caller()
  const { id } = await createRun(api, caller, { timeout_minutes: 5 })
  api.clock.advance(5 * MINUTE_MS)
  for (let swept = 0; swept < 2; swept += 1) {
    assertError(await patchRun(api, caller, id, { status: 'success' }), 409, 'run_finished')
    assert.equal((await patchRun(api, caller, id, { status: 'timed_out' })).status, 200)
    await settleOverdueRuns.run(api.services, {})
  }
})

test('only the attempt past its deadline times out', async () => {
  const caller = await api.caller()
  const same = { external_run_id: 'two-attempts' }
  const { id } = await createRun(api, caller, { ...same, timeout_minutes: 5 })
  await createRun(api, caller, { ...same, attempt: 2, timeout_minutes: 10 })
  api.clock.advance(5 * MINUTE_MS)
  const run = await read(caller, id)
  assert.deepEqual(
    [run.status, run.attempts.map((attempt: Json) => attempt.status)],
    ['in_progress', ['timed_out', 'in_progress']],
  )
})

test('the job settles an overdue attempt that is no longer the newest, and only that one', async () => {
  const caller = await api.caller()
  const same = { external_run_id: 'swept-attempts' }
  const first = await createRun(api, caller, { ...same, timeout_minutes: 5 })
  await createRun(api, caller, { ...same, attempt: 3, timeout_minutes: 10 })
  api.clock.advance(5 * MINUTE_MS)
  await settleOverdueRuns.run(api.services, {})
  const rows = await api.services.sql`
    select attempt.number, attempt.status, attempt.completed_at, run.status as newest, run.updated_at
    from ci_run_attempts attempt
    join ci_runs run on run.org_id = attempt.org_id and run.id = attempt.run_id
    where run.id = ${first.id}`
  const swept = { number: 1, status: 'timed_out', completed_at: new Date(first.deadline_at) }
  assert.deepEqual([...rows], [{ ...swept, newest: 'in_progress', updated_at: api.clock.now() }])
})

test('a run that starts in the future is never completed before it started', async () => {
  const caller = await api.caller()
  const started_at = '2030-01-01T00:00:00.000Z'
  const { id } = await createRun(api, caller, { timeout_minutes: 5, started_at })
  api.clock.advance(5 * MINUTE_MS)
  await settleOverdueRuns.run(api.services, {})
  const run = await read(caller, id)
  assert.deepEqual([run.status, run.completed_at, run.duration_seconds], ['timed_out', started_at, 0])
})
