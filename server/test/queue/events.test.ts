import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { reportChanged, runFinished } from '../../src/ci/runs/run.events.ts'
import { publish } from '../../src/platform/queue/event.ts'
import { intelImported } from '../../src/security/intel/import-source.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { drainQueue } from '../support/queue.ts'

let api: TestApi
let caller: Caller
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())
beforeEach(async () => {
  await drainQueue(api)
  await api.services.sql`delete from events`
})

function listEvents() {
  return api.services.sql`
    select org_id, type, version, actor, subject, cause, data, previous
    from events
    order by created_at, id`
}

test('an event has a row in the shape in which it is told to others', async () => {
  const run = await createRun(api, caller)
  await patchRun(api, caller, run.id, { status: 'success' })
  assert.deepEqual(
    [...(await listEvents())],
    [
      {
        org_id: caller.orgId,
        type: 'run.finished',
        version: 1,
        actor: null,
        subject: { type: 'run', id: run.id, repository: null, url: null },
        cause: null,
        data: { run_id: run.id, attempt: 1, status: 'success' },
        previous: null,
      },
    ],
  )
})

test('actor and previous are stored where they are known', async () => {
  const actor = { type: 'user', id: 'u1', name: 'Ada' }
  const payload = { org_id: caller.orgId, run_id: 'run_1', attempt: 1, status: 'success' as const }
  await publish(api.services.sql, runFinished, payload, { actor, previous: { status: 'queued' } })
  const [row] = await listEvents()
  assert.deepEqual(row?.actor, actor)
  assert.deepEqual(row?.previous, { status: 'queued' })
})

test('the row and the job are stored with the transaction, or not at all', async () => {
  const payload = { org_id: caller.orgId, run_id: 'run_1' }
  const failing = api.services.sql.begin(async (tx) => {
    await publish(tx, reportChanged, payload)
    throw new Error('rolled back')
  })
  await assert.rejects(failing, /rolled back/)
  assert.equal((await listEvents()).length, 0)
})

test('events that are one job while it waits have a row each', async () => {
  const payload = { org_id: caller.orgId, run_id: 'run_1' }
  for (let times = 0; times < 3; times += 1) await publish(api.services.sql, reportChanged, payload)
  assert.equal((await listEvents()).length, 3)
})

test('an event of every organization has no row', async () => {
  await publish(api.services.sql, intelImported, { source: 'kev' })
  assert.equal((await listEvents()).length, 0)
})
