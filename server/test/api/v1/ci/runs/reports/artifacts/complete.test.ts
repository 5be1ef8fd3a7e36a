import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { formatArtifactKey } from '../../../../../../../src/ci/reports/artifact-object.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../../support/assert-error.ts'
import {
  artifactOf,
  assertCompleted,
  postArtifacts,
  postComplete,
  putArtifact,
  type Slot,
  sendReport,
  storedReport,
  uploadArtifact,
} from '../../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../../support/ci-runs.ts'
import type { Json } from '../../../../../../support/json.ts'
import { expectationOf } from '../../../../../../support/object-store-contract.ts'

const FILE = 'the bytes of the file'

let api: TestApi
let caller: Caller
let report: Json

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  report = await sendReport(api, caller, (await createRun(api, caller)).id)
})

const complete = (...ids: unknown[]) => postComplete(api, caller, report, ids)
const stat = (id: string) => api.services.objects.stat(formatArtifactKey(caller.orgId, id))

async function openSlots(...paths: string[]): Promise<Slot[]> {
  const { body } = await postArtifacts(
    api,
    caller,
    report,
    paths.map((path) => artifactOf(path, FILE)),
  )
  return body.data.uploads
}

async function openSlot(path = 'file'): Promise<Slot> {
  const [slot] = await openSlots(path)
  return slot as Slot
}

/** Stores an object under the key of an artifact without its slot, as a defective store could. */
async function store(id: string, bytes: string): Promise<void> {
  const { objects, clock } = api.services
  const slot = await objects.presignPut(
    formatArtifactKey(caller.orgId, id),
    expectationOf(Buffer.from(bytes)),
    clock.now(),
  )
  assert.equal((await putArtifact({ ...slot, artifact_id: id, path: '' }, bytes)).status, 200)
}

test('200 with a result for each id in the order of the request: uploaded, missing, unknown', async () => {
  const [a, b] = await openSlots('a', 'b')
  await putArtifact(b as Slot, FILE)
  const { status, body } = await complete(a?.artifact_id, 'nobody', b?.artifact_id)
  assert.equal(status, 200)
  assert.deepEqual(body.data, {
    report_id: report.report_id,
    results: [
      { artifact_id: a?.artifact_id, status: 'missing', reason: null },
      { artifact_id: 'nobody', status: 'missing', reason: 'unknown_artifact' },
      { artifact_id: b?.artifact_id, status: 'uploaded', reason: null },
    ],
  })
})

test('missing now, uploaded once the file has been PUT', async () => {
  const slot = await openSlot()
  assert.equal((await complete(slot.artifact_id)).body.data.results[0].status, 'missing')
  await putArtifact(slot, FILE)
  await assertCompleted(api, caller, report, slot.artifact_id)
})

for (const [reason, bytes] of [
  ['size_mismatch', `${FILE}!`],
  ['size_mismatch', ''],
  ['checksum_mismatch', FILE.toUpperCase()],
] as const) {
  test(`rejected with ${reason} for an object of ${bytes.length} bytes, and the object is deleted`, async () => {
    const slot = await openSlot()
    await store(slot.artifact_id, bytes)
    for (const _ of ['completed', 'completed again']) {
      const { body } = await complete(slot.artifact_id)
      assert.deepEqual(body.data.results, [{ artifact_id: slot.artifact_id, status: 'rejected', reason }])
      assert.equal(await stat(slot.artifact_id), null)
    }
  })
}

test('a rejected file gets a new slot when it is added again, and can be uploaded then', async () => {
  const rejected = await openSlot()
  await store(rejected.artifact_id, 'wrong')
  await complete(rejected.artifact_id)
  const slot = await openSlot()
  assert.notEqual(slot.artifact_id, rejected.artifact_id)
  await putArtifact(slot, FILE)
  await assertCompleted(api, caller, report, slot.artifact_id)
  assert.equal((await complete(rejected.artifact_id)).body.data.results[0].status, 'missing')
  assert.ok(await stat(slot.artifact_id), 'completing the old one again does not touch the new one')
})

test('a rejected or missing file does not prevent the other files of a call from being uploaded', async () => {
  const [good, bad, absent] = (await openSlots('good', 'bad', 'absent')) as [Slot, Slot, Slot]
  await putArtifact(good, FILE)
  await store(bad.artifact_id, 'wrong')
  const { body } = await complete(absent.artifact_id, bad.artifact_id, good.artifact_id)
  assert.deepEqual(
    body.data.results.map(({ status }: Json) => status),
    ['missing', 'rejected', 'uploaded'],
  )
})

test('safe to repeat, in any order and with an id twice: the result is the same', async () => {
  const [a, b] = (await openSlots('a', 'b')) as [Slot, Slot]
  for (const slot of [a, b]) await putArtifact(slot, FILE)
  await complete(a.artifact_id, b.artifact_id)
  const again = await complete(b.artifact_id, a.artifact_id, b.artifact_id)
  assert.deepEqual(
    again.body.data.results,
    [b, a, b].map(({ artifact_id }) => ({ artifact_id, status: 'uploaded', reason: null })),
  )
})

test('an uploaded artifact stays uploaded, even when its object is lost', async () => {
  const id = await uploadArtifact(api, caller, report, 'file', FILE)
  await api.services.objects.remove(formatArtifactKey(caller.orgId, id))
  await assertCompleted(api, caller, report, id)
})

test('twelve concurrent completions have one effect and one result', async () => {
  const [good, bad] = (await openSlots('good', 'bad')) as [Slot, Slot]
  await putArtifact(good, FILE)
  await store(bad.artifact_id, 'wrong')
  const answers = await Promise.all(Array.from({ length: 12 }, () => complete(good.artifact_id, bad.artifact_id)))
  for (const { status, body } of answers) {
    assert.deepEqual([status, ...body.data.results.map((result: Json) => result.status)], [200, 'uploaded', 'rejected'])
  }
  assert.deepEqual([(await stat(good.artifact_id))?.sizeBytes, await stat(bad.artifact_id)], [FILE.length, null])
})

test('completing while the report is replaced loses no file that the new report names', async () => {
  const slots = await openSlots('a', 'b', 'c', 'd')
  for (const slot of slots) await putArtifact(slot, FILE)
  const artifacts = slots.map(({ path }) => artifactOf(path, FILE))
  await Promise.all([
    ...slots.map(({ artifact_id }) => complete(artifact_id)),
    ...[1, 2, 3].map(() => sendReport(api, caller, report.run_id, { artifacts })),
  ])
  const stored = await storedReport(api, caller, report.report_id)
  assert.deepEqual(
    stored.artifacts.map(({ id, status }) => [id, status]),
    slots.map(({ artifact_id }) => [artifact_id, 'uploaded']),
  )
})

test('400 for no ids, more than 50, ids that are not strings, and unknown fields', async () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)
  assert.equal((await complete(...ids(50))).body.data.results.length, 50)
  assertInvalid(await complete(), '/body/artifact_ids')
  assertInvalid(await complete(...ids(51)), '/body/artifact_ids')
  assertInvalid(await complete(1), '/body/artifact_ids/0')
  assertInvalid(await complete(''), '/body/artifact_ids/0')
  const path = `/v1/ci/runs/${report.run_id}/reports/${report.report_id}/artifacts/complete`
  assertInvalid(await api.request('POST', path, { key: caller.key, body: {} }), '/body/artifact_ids')
  const body = { artifact_ids: ['a'], force: true }
  assertInvalid(await api.request('POST', path, { key: caller.key, body }), '/body/force')
})

test('404 for a report of another organization or run; an artifact of another report is missing', async () => {
  const slot = await openSlot()
  await putArtifact(slot, FILE)
  const ids = [slot.artifact_id]
  const { id } = await createRun(api, caller)
  const foreign = await api.caller()
  assertError(await postComplete(api, foreign, report, ids), 404, 'not_found')
  assertError(await postComplete(api, caller, { ...report, run_id: id }, ids), 404, 'not_found')
  const other = await sendReport(api, caller, report.run_id, { job: { name: 'other' } })
  const { body } = await postComplete(api, caller, other, ids)
  assert.deepEqual(body.data.results[0].status, 'missing')
  await assertCompleted(api, caller, report, slot.artifact_id)
})
