import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { RUN_STATUSES } from '../../../../../src/ci/runs/run-status.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { BAD_URLS, createRun, patchRun } from '../../../../support/ci-runs.ts'
import type { Json } from '../../../../support/json.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

const OPEN = ['queued', 'in_progress'] as const
const FINAL = ['success', 'failure', 'cancelled', 'timed_out', 'skipped'] as const

/** The fields of a CI run that a PATCH may change. */
const MUTABLE = new Set(['status', 'completed_at', 'url', 'updated_at'])

test('there are seven statuses, as in the specification', () => {
  assert.deepEqual([...RUN_STATUSES].sort(), [...OPEN, ...FINAL].sort())
})

for (const from of OPEN) {
  for (const to of [...OPEN, ...FINAL]) {
    test(`200 for ${from} → ${to}, and only the status and its time change`, async () => {
      const run = await createRun(api, caller, { status: from })
      api.clock.advance(1000)
      const { status, body } = await patchRun(api, caller, run.id, { status: to })
      assert.deepEqual([status, body.data.status], [200, to])
      const isFinal = (FINAL as readonly string[]).includes(to)
      assert.equal(body.data.completed_at, isFinal ? api.clock.now().toISOString() : null)
      for (const field of Object.keys(run))
        if (!MUTABLE.has(field)) assert.deepEqual(body.data[field], run[field], field)
    })
  }
}

for (const from of FINAL) {
  test(`409 run_finished for ${from} → any other status, 200 and unchanged for ${from} again`, async () => {
    const { id } = await createRun(api, caller)
    const finished = await patchRun(api, caller, id, { status: from, url: 'https://ci.example/1' })
    api.clock.advance(1000)
    for (const to of [...OPEN, ...FINAL].filter((status) => status !== from)) {
      assertError(await patchRun(api, caller, id, { status: to }), 409, 'run_finished')
    }
    const again = { status: from, url: 'https://ci.example/2', completed_at: '2026-03-09T00:00:00Z' }
    const { status, body } = await patchRun(api, caller, id, again)
    assert.deepEqual([status, body.data], [200, finished.body.data])
  })
}

for (const change of [{ url: 'https://ci.example/new' }, { completed_at: '2026-03-09T00:00:00Z' }]) {
  test(`409 run_finished for a finished attempt and a new ${Object.keys(change)} without a status`, async () => {
    const { id } = await createRun(api, caller)
    await patchRun(api, caller, id, { status: 'success' })
    assertError(await patchRun(api, caller, id, change), 409, 'run_finished')
  })
}

test('200 with a new url on an open attempt, its status kept', async () => {
  const { id } = await createRun(api, caller, { status: 'queued' })
  const { status, body } = await patchRun(api, caller, id, { url: 'https://ci.example/new' })
  assert.deepEqual([status, body.data.url, body.data.status], [200, 'https://ci.example/new', 'queued'])
})

test('200 with a url whose scheme is in capital letters', async () => {
  const { id } = await createRun(api, caller)
  const { status, body } = await patchRun(api, caller, id, { url: 'HTTPS://ci.example/1' })
  assert.deepEqual([status, body.data.url], [200, 'HTTPS://ci.example/1'])
})

test('200 with the completed_at of the body, in UTC', async () => {
  const { id } = await createRun(api, caller, { started_at: '2026-03-04T05:00:00Z' })
  const { body } = await patchRun(api, caller, id, { status: 'success', completed_at: '2026-03-04T06:00:00.5+01:00' })
  assert.equal(body.data.completed_at, '2026-03-04T05:00:00.500Z')
})

test('400 at /body/completed_at before started_at, 200 at the same instant', async () => {
  const { id } = await createRun(api, caller, { started_at: '2026-03-04T05:00:00Z' })
  const early = { status: 'success', completed_at: '2026-03-04T04:59:59.999Z' }
  assertInvalid(await patchRun(api, caller, id, early), '/body/completed_at')
  const same = { status: 'success', completed_at: '2026-03-04T05:00:00Z' }
  assert.equal((await patchRun(api, caller, id, same)).status, 200)
})

test('200 and not completed before it started, for a start in the future and no completed_at', async () => {
  const { id } = await createRun(api, caller, { started_at: '2030-01-01T00:00:00Z' })
  const { body } = await patchRun(api, caller, id, { status: 'success' })
  assert.equal(body.data.completed_at, '2030-01-01T00:00:00.000Z')
})

test('200 and unchanged for an empty body', async () => {
  const run = await createRun(api, caller)
  api.clock.advance(1000)
  const { status, body } = await patchRun(api, caller, run.id, {})
  assert.deepEqual([status, body.data], [200, run])
})

test('an update applies to the newest attempt by default, otherwise to the attempt of the body', async () => {
  const same = { external_run_id: 'attempts' }
  const { id } = await createRun(api, caller, same)
  await createRun(api, caller, { ...same, attempt: 5 })
  const newest = await patchRun(api, caller, id, { status: 'success' })
  assert.deepEqual([newest.body.data.attempt, newest.body.data.status], [5, 'success'])
  const first = await patchRun(api, caller, id, { attempt: 1, status: 'failure' })
  assert.deepEqual([first.body.data.attempt, first.body.data.status], [1, 'failure'])
  const { body } = await api.request('GET', `/v1/runs/${id}`, { key: caller.key })
  assert.deepEqual(
    body.data.attempts.map((attempt: Json) => attempt.status),
    ['failure', 'success'],
  )
})

test('404 not_found for an attempt or a run that does not exist', async () => {
  const { id } = await createRun(api, caller)
  assertError(await patchRun(api, caller, id, { attempt: 2, status: 'success' }), 404, 'not_found')
  assertError(await patchRun(api, caller, 'run_none', { status: 'success' }), 404, 'not_found')
})

const INVALID: [field: string, values: unknown[]][] = [
  ['attempt', [0, 1000, 1.5, '1', null]],
  ['status', ['done', '', null, 'SUCCESS']],
  ['completed_at', ['2026-03-04', '2026-03-04T05:06:07', null, 0]],
  ['url', [`https://ci.example/${'x'.repeat(2030)}`, 7, null, ...BAD_URLS]],
]
for (const [field, values] of INVALID) {
  test(`400 at /body/${field} for an invalid ${field}`, async () => {
    const { id } = await createRun(api, caller)
    for (const value of values) assertInvalid(await patchRun(api, caller, id, { [field]: value }), `/body/${field}`)
  })
}

test('twelve concurrent final statuses: the first one wins, different ones are 409 run_finished', async () => {
  const { id } = await createRun(api, caller)
  const endings = Array.from({ length: 12 }, (_, index) => (index === 0 ? 'failure' : 'success'))
  const answers = await Promise.all(endings.map((status) => patchRun(api, caller, id, { status })))
  const stored = (await api.request('GET', `/v1/runs/${id}`, { key: caller.key })).body.data.status
  for (const [index, { status }] of answers.entries()) assert.equal(status, endings[index] === stored ? 200 : 409)
})
