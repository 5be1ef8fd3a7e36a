import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createRun, patchRun, postRun } from '../../../../support/ci-runs.ts'
import type { Json } from '../../../../support/json.ts'

let api: TestApi
let beside: TestApi

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})

const SAME = { external_run_id: 'same' }
const OTHER_FIELDS = {
  ci_system_name: 'Other',
  repository: 'gitlab.com/other/name',
  commit_sha: 'b'.repeat(40),
  ref: 'other',
  pipeline_name: 'other',
  url: 'https://other.example',
  started_at: '2026-01-01T00:00:00Z',
  actor: 'other',
  event: 'push',
  timeout_minutes: 5,
}

test('200 with the stored run, unchanged, and what it conflicts with when the same attempt is posted again', async () => {
  const caller = await api.caller()
  const stored = await createRun(api, caller, SAME)
  api.clock.advance(1000)
  const { status, body } = await postRun(api, caller, { ...SAME, ...OTHER_FIELDS })
  const { conflicts, ...run } = body.data
  assert.deepEqual([status, run, conflicts], [200, stored, ['repository', 'commit_sha']])
})

test('twelve identical concurrent requests to two servers create one run: one 201, eleven 200', async () => {
  const caller = await api.caller()
  const twins = Array.from({ length: 12 }, (_, index) => postRun(index % 2 ? beside : api, caller, SAME))
  const answers = await Promise.all(twins)
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [...Array(11).fill(200), 201])
  assert.equal(new Set(answers.map((answer) => answer.body.data.id)).size, 1)
  assert.equal((await api.request('GET', '/v1/runs', { key: caller.key })).body.data.length, 1)
})

test('twelve identical concurrent requests for a second attempt: one 201, eleven 200, two attempts', async () => {
  const caller = await api.caller()
  const { id } = await createRun(api, caller, SAME)
  const answers = await Promise.all(Array.from({ length: 12 }, () => postRun(api, caller, { ...SAME, attempt: 2 })))
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [...Array(11).fill(200), 201])
  const { body } = await api.request('GET', `/v1/runs/${id}`, { key: caller.key })
  assert.deepEqual(
    body.data.attempts.map((attempt: Json) => attempt.number),
    [1, 2],
  )
})

test('another ci_system is another run, with the same external id', async () => {
  const caller = await api.caller()
  const one = await createRun(api, caller, SAME)
  assert.notEqual((await createRun(api, caller, { ...SAME, ci_system: 'jenkins' })).id, one.id)
})

test('201 with the same run id for a higher attempt, gaps allowed, with its own deadline', async () => {
  const caller = await api.caller()
  const first = await createRun(api, caller, { ...SAME, url: 'https://ci.example/1' })
  api.clock.advance(60_000)
  const third = await createRun(api, caller, { ...SAME, attempt: 3, timeout_minutes: 10, actor: 'ada' })
  assert.deepEqual([third.id, third.attempt, third.actor, third.url], [first.id, 3, 'ada', null])
  assert.deepEqual([third.created_at, third.started_at], [first.created_at, api.clock.now().toISOString()])
  assert.equal(third.deadline_at, new Date(api.clock.now().getTime() + 10 * 60_000).toISOString())
})

test('409 attempt_outdated for a lower attempt, stored before or not', async () => {
  const caller = await api.caller()
  await createRun(api, caller, SAME)
  await createRun(api, caller, { ...SAME, attempt: 3 })
  for (const attempt of [1, 2]) assertError(await postRun(api, caller, { ...SAME, attempt }), 409, 'attempt_outdated')
})

test('200 and in_progress when a queued attempt is posted again as in_progress; nothing else changes', async () => {
  const caller = await api.caller()
  const queued = await createRun(api, caller, { ...SAME, status: 'queued' })
  assert.equal(queued.status, 'queued')
  api.clock.advance(5000)
  const { status, body } = await postRun(api, caller, { ...SAME, ...OTHER_FIELDS, status: 'in_progress' })
  const updated_at = api.clock.now().toISOString()
  const { conflicts: _, ...run } = body.data
  assert.deepEqual([status, run], [200, { ...queued, status: 'in_progress', updated_at }])
})

test('200 and still in_progress when a started attempt is posted again as queued', async () => {
  const caller = await api.caller()
  const stored = await createRun(api, caller, SAME)
  const { status, body } = await postRun(api, caller, { ...SAME, status: 'queued' })
  assert.deepEqual([status, body.data], [200, stored])
})

test('200 with the finished attempt when a finished one is posted again', async () => {
  const caller = await api.caller()
  const { id } = await createRun(api, caller, SAME)
  const finished: Answer = await patchRun(api, caller, id, { status: 'failure' })
  const { status, body } = await postRun(api, caller, SAME)
  assert.deepEqual([status, body.data], [200, finished.body.data])
})

test('201 for a new attempt of a run whose previous attempt has finished', async () => {
  const caller = await api.caller()
  const { id } = await createRun(api, caller, SAME)
  await patchRun(api, caller, id, { status: 'failure' })
  const second = await createRun(api, caller, { ...SAME, attempt: 2 })
  assert.deepEqual([second.id, second.status, second.completed_at], [id, 'in_progress', null])
})

test('a run that two keys of an organization report keeps the credential that created it', async () => {
  const caller = await api.caller()
  const stored = await createRun(api, caller, SAME)
  const { status, body } = await postRun(api, await api.caller({ orgId: caller.orgId }), SAME)
  assert.deepEqual([status, body.data.id], [200, stored.id])
})
