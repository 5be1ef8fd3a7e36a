import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { formatArtifactKey } from '../../src/ci/reports/artifact-object.ts'
import { forgetUnfinishedArtifacts } from '../../src/ci/reports/remove-artifacts.job.ts'
import { scheduledJobs } from '../../src/jobs.ts'
import { removeAbandoned } from '../../src/platform/objects/remove-abandoned.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { artifactOf, postComplete, putArtifact, sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import type { Json } from '../support/json.ts'

const MINUTE_MS = 60_000

let api: TestApi
let caller: Caller
let report: Json

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  await api.services.sql`delete from abandoned_objects`
  caller = await api.caller()
  report = await sendReport(api, caller, (await createRun(api, caller)).id)
})

const send = (artifacts: unknown[]) => sendReport(api, caller, report.run_id, { artifacts })
const key = (id: string) => formatArtifactKey(caller.orgId, id)
const isStored = async (id: string) => (await api.services.objects.stat(key(id))) !== null
const sweep = (services = api.services) => removeAbandoned.run(services, {})

async function rows(): Promise<string[]> {
  const found = await api.services.sql<{ object_key: string }[]>`select object_key from abandoned_objects`
  return found.map(({ object_key }) => object_key)
}

test('the object of an artifact that a report no longer names is removed an hour after its slot has expired', async () => {
  const dropped = await uploadArtifact(api, caller, report, 'dropped', 'old')
  const kept = await uploadArtifact(api, caller, report, 'kept', 'bytes')
  await send([artifactOf('kept', 'bytes')])
  api.clock.advance(75 * MINUTE_MS - 1)
  await sweep()
  assert.ok(await isStored(dropped))
  api.clock.advance(1)
  await sweep()
  assert.deepEqual([await isStored(dropped), await isStored(kept), await rows()], [false, true, []])
})

test('the object of a replaced file is removed as well', async () => {
  const old = await uploadArtifact(api, caller, report, 'a', 'old')
  const fresh = await uploadArtifact(api, caller, report, 'a', 'new')
  api.clock.advance(75 * MINUTE_MS)
  await sweep()
  assert.deepEqual([await isStored(old), await isStored(fresh)], [false, true])
})

test('a file that is PUT after its artifact was dropped or rejected is removed as well', async () => {
  const [slot] = (await send([artifactOf('a', 'bytes')])).uploads
  await send([])
  assert.equal((await putArtifact(slot, 'bytes')).status, 200)
  const [second] = (await send([artifactOf('b', 'bytes')])).uploads
  const { objects, clock } = api.services
  const wrong = artifactOf('b', 'wrong')
  const expected = { sizeBytes: wrong.size, sha256: wrong.sha256, contentType: 'text/plain' }
  const stray = await objects.presignPut(key(second.artifact_id), expected, clock.now())
  await putArtifact({ ...second, ...stray }, 'wrong')
  const { body } = await postComplete(api, caller, report, [second.artifact_id])
  assert.equal(body.data.results[0].status, 'rejected')
  assert.equal((await putArtifact(second, 'bytes')).status, 200)
  api.clock.advance(75 * MINUTE_MS)
  await sweep()
  assert.deepEqual(
    [await isStored(slot.artifact_id), await isStored(second.artifact_id), await rows()],
    [false, false, []],
  )
})

test('one run removes more than one batch, and two workers at once do not conflict', async () => {
  const past = new Date(api.clock.now().getTime() - 60 * MINUTE_MS)
  await api.services.sql`
    insert into abandoned_objects (object_key, remove_after)
    select 'gone/' || number, ${past}
    from generate_series(1, 230) number`
  const removed: string[] = []
  const counting = { ...api.services, objects: { remove: async (key: string) => void removed.push(key) } as never }
  await Promise.all([sweep(counting), sweep(counting)])
  assert.deepEqual([removed.length, new Set(removed).size, await rows()], [230, 230, []])
})

test('an object that the store does not remove is tried again in an hour and does not delay the others', async () => {
  const past = new Date(api.clock.now().getTime() - 61 * MINUTE_MS)
  await api.services.sql`
    insert into abandoned_objects (object_key, remove_after)
    select 'stuck/' || number, ${past}
    from generate_series(1, 60) number`
  const dropped = await uploadArtifact(api, caller, report, 'dropped', 'old')
  await send([])
  api.clock.advance(75 * MINUTE_MS)
  const { objects } = api.services
  const refusing = {
    remove: (key: string) => (key.startsWith('stuck/') ? Promise.reject(new Error('no')) : objects.remove(key)),
  }
  await sweep({ ...api.services, objects: refusing as never })
  assert.deepEqual([await isStored(dropped), (await rows()).length], [false, 60])
  api.clock.advance(60 * MINUTE_MS - 1)
  await sweep()
  assert.equal((await rows()).length, 60)
  api.clock.advance(1)
  await sweep()
  assert.deepEqual(await rows(), [])
})

test('the job is scheduled', () => {
  assert.ok(scheduledJobs.includes(removeAbandoned))
})

test('a slot that was not completed is removed with its file a day after it expired; others are kept', async () => {
  const kept = await uploadArtifact(api, caller, report, 'kept', 'bytes')
  const [slot] = (await send([artifactOf('kept', 'bytes'), artifactOf('put, not completed', 'more')])).uploads
  assert.equal((await putArtifact(slot, 'more')).status, 200)
  api.clock.advance(24 * 60 * MINUTE_MS + 15 * MINUTE_MS)
  await forgetUnfinishedArtifacts.run(api.services, {})
  await sweep()
  assert.deepEqual([await isStored(slot.artifact_id), await isStored(kept)], [false, true])
  const [answer] = (await postComplete(api, caller, report, [slot.artifact_id])).body.data.results
  assert.equal(answer.status, 'missing')
})
