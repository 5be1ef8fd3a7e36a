import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../../support/assert-error.ts'
import {
  artifactOf,
  assertCompleted,
  fileOf,
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
import { onTheServersClock } from '../../../../../../support/s3-under-test.ts'

const MINUTE_MS = 60_000
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

const add = (...artifacts: unknown[]) => postArtifacts(api, caller, report, artifacts)
const stored = async () => (await storedReport(api, caller, report.report_id)).artifacts

async function openSlot(bytes: string | Buffer = FILE, path = 'file'): Promise<Slot> {
  const { body, text } = await add(artifactOf(path, bytes))
  assert.equal(body.data?.uploads.length, 1, text)
  return body.data.uploads[0]
}

/** The PUT was refused, and the artifact is still pending. */
async function assertRefused(response: Response, slot: Slot): Promise<void> {
  assert.ok(response.status >= 400 && response.status < 500, `answered ${response.status}`)
  const { body } = await postComplete(api, caller, report, [slot.artifact_id])
  assert.deepEqual(body.data.results, [{ artifact_id: slot.artifact_id, status: 'missing', reason: null }])
}

test('200 with report_id, one slot per new file in the order of the request, skipped and warnings', async () => {
  const { status, body } = await add(fileOf('b', 2), fileOf('a', 1))
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.data).sort(), ['report_id', 'skipped', 'uploads', 'warnings'])
  assert.deepEqual([body.data.report_id, body.data.skipped, body.data.warnings], [report.report_id, [], []])
  assert.deepEqual(
    body.data.uploads.map(({ path }: Slot) => path),
    ['b', 'a'],
  )
})

test('files are added to a report, and none is removed', async () => {
  await uploadArtifact(api, caller, report, 'first', FILE)
  await add(fileOf('second', 1))
  assert.deepEqual(
    (await stored()).map(({ path, status }) => [path, status]),
    [
      ['first', 'uploaded'],
      ['second', 'pending'],
    ],
  )
})

test('already_uploaded for a file that is stored with the same checksum; other bytes at its path get a slot', async () => {
  const id = await uploadArtifact(api, caller, report, 'file', FILE)
  const same = await add(artifactOf('file', FILE), artifactOf('copy', FILE))
  assert.deepEqual(same.body.data.skipped, [{ path: 'file', reason: 'already_uploaded' }])
  assert.deepEqual(
    same.body.data.uploads.map(({ path }: Slot) => path),
    ['copy'],
  )
  const other = await add(artifactOf('file', 'other bytes'))
  assert.notEqual(other.body.data.uploads[0].artifact_id, id)
})

test('200 for the file PUT with exactly the headers of its slot, and without an API key', async () => {
  const slot = await openSlot()
  assert.equal((await putArtifact(slot, FILE)).status, 200)
  await assertCompleted(api, caller, report, slot.artifact_id)
})

test('an empty file is accepted', async () => {
  const slot = await openSlot('')
  assert.equal((await putArtifact(slot, '')).status, 200)
  await assertCompleted(api, caller, report, slot.artifact_id)
})

test('a PUT without a header of the slot, or with another value, is refused', async () => {
  const slot = await openSlot()
  const names = Object.keys(slot.headers)
  assert.ok(names.length >= 2)
  for (const name of names) {
    const { [name]: value, ...others } = slot.headers
    await assertRefused(await putArtifact({ ...slot, headers: others }, FILE), slot)
    await assertRefused(await putArtifact({ ...slot, headers: { ...others, [name]: `x${value}` } }, FILE), slot)
  }
})

for (const [what, bytes] of [
  ['longer', `${FILE}!`],
  ['shorter', FILE.slice(1)],
  ['different', FILE.toUpperCase()],
  ['empty', ''],
] as const) {
  test(`a body that is ${what} is refused, and the declared one is still accepted`, async () => {
    const slot = await openSlot()
    await assertRefused(await putArtifact(slot, bytes), slot)
    assert.equal((await putArtifact(slot, FILE)).status, 200)
    await assertRefusedToReplace(slot, bytes)
    await assertCompleted(api, caller, report, slot.artifact_id)
  })
}

async function assertRefusedToReplace(slot: Slot, bytes: string): Promise<void> {
  const { status } = await putArtifact(slot, bytes)
  assert.ok(status >= 400 && status < 500)
}

test(
  'a slot accepts its file for 15 minutes; adding the artifact again opens it again',
  onTheServersClock,
  async () => {
    const early = await openSlot(FILE, 'early')
    const late = await openSlot(FILE, 'late')
    api.clock.advance(15 * MINUTE_MS - 1)
    assert.equal((await putArtifact(early, FILE)).status, 200)
    api.clock.advance(1)
    assert.equal((await putArtifact(late, FILE)).status, 403)
    await assertRefused(await putArtifact(late, FILE), late)
    await assertCompleted(api, caller, report, early.artifact_id)
    const again = await openSlot(FILE, 'late')
    assert.equal(again.artifact_id, late.artifact_id)
    assert.equal((await putArtifact(again, FILE)).status, 200)
    await assertCompleted(api, caller, report, again.artifact_id)
  },
)

test('400 for no artifacts, more than 50, a path twice, unknown fields and a path outside the report', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => fileOf(`${index}`, 1))
  assert.equal((await add(...many(50))).body.data.uploads.length, 50)
  assertInvalid(await add(), '/body/artifacts')
  assertInvalid(await add(...many(51)), '/body/artifacts')
  assertInvalid(await add(fileOf('a', 1), fileOf('a', 1)), '/body/artifacts/1/path')
  assertInvalid(await add({ ...fileOf('a', 1), mode: 0o755 }), '/body/artifacts/0/mode')
  assertInvalid(await add(fileOf('a', 1), fileOf('../../etc/passwd', 1)), '/body/artifacts/1/path')
})

test('a report can have 1,000 artifacts over all calls; a call beyond that is a 400 that stores nothing', async () => {
  for (let call = 0; call < 20; call += 1) {
    const files = Array.from({ length: 50 }, (_, index) => fileOf(`${call}/${index}`, 1))
    assert.equal((await add(...files)).status, 200)
  }
  assertInvalid(await add(fileOf('one too many', 1)), '/body/artifacts')
  assert.equal((await stored()).length, 1000)
  assert.equal((await add(fileOf('0/0', 1))).status, 200)
})

test('404 not_found for an unknown report, a report of another run and one of another organization', async () => {
  const { id } = await createRun(api, caller)
  const unknown = { ...report, report_id: `1-${'0'.repeat(24)}` }
  for (const name of [unknown, { ...report, run_id: id }]) {
    assertError(await postArtifacts(api, caller, name, [fileOf('a', 1)]), 404, 'not_found')
  }
  assertError(await postArtifacts(api, await api.caller(), report, [fileOf('a', 1)]), 404, 'not_found')
})

test('twelve identical concurrent calls create one artifact, whichever slot is used', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => add(artifactOf('file', FILE))))
  const slots = answers.map(({ body }) => body.data.uploads[0])
  assert.equal(new Set(slots.map(({ artifact_id }) => artifact_id)).size, 1)
  assert.equal((await putArtifact(slots[11], FILE)).status, 200)
  await assertCompleted(api, caller, report, slots[0].artifact_id)
  assert.equal((await stored()).length, 1)
})
