import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import {
  artifactOf,
  fileOf,
  postArtifacts,
  postComplete,
  putArtifact,
  sendReport,
  storedReport,
  TESTS,
  uploadArtifact,
} from '../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../support/ci-runs.ts'
import type { Json } from '../../../../../support/json.ts'
import { writePlans } from '../../../../../support/plans.ts'

const MINUTE_MS = 60_000
/**
 * The plans allow 40 bytes per file and 100 per run; the plan `monthly` also allows 150 per month.
 */
const SMALL = { artifact_bytes_max: 40, artifact_bytes_per_run_max: 100 }

let api: TestApi
let plans: Awaited<ReturnType<typeof writePlans>>
let caller: Caller
let runId: string

before(async () => {
  plans = await writePlans({ small: SMALL, monthly: { ...SMALL, artifact_bytes_per_month_max: 150 } })
  api = await startTestApi({ env: plans.env })
})
after(async () => {
  await api?.close()
  await plans?.remove()
})
beforeEach(async () => {
  caller = await api.caller({ plan: 'small' })
  runId = (await createRun(api, caller)).id
})

const send = (artifacts: unknown[], fields: Record<string, unknown> = {}) =>
  sendReport(api, caller, runId, { artifacts, ...fields })
const newRun = async () => {
  runId = (await createRun(api, caller)).id
}
const paths = (uploads: Json[]) => uploads.map(({ path }) => path)
const skippedBy = (reason: string, ...skipped: string[]) => skipped.map((path) => ({ path, reason }))
const text = (length: number, char = 'x') => char.repeat(length)

test('too_large for a file that the plan does not allow, and the rest of the report is stored', async () => {
  const attestations = [TESTS]
  const report = await send([fileOf('fits', 40), fileOf('large', 41), fileOf('small', 1)], { attestations })
  assert.deepEqual(paths(report.uploads), ['fits', 'small'])
  assert.deepEqual(report.skipped, skippedBy('too_large', 'large'))
  const stored = await storedReport(api, caller, report.report_id)
  assert.deepEqual([stored.attestations.length, paths(stored.artifacts)], [1, ['fits', 'small']])
})

test('run_quota for a file that exceeds the quota of the run, decided in the order of the request', async () => {
  const report = await send([fileOf('a', 40), fileOf('b', 40), fileOf('c', 21), fileOf('d', 20), fileOf('e', 1)])
  assert.deepEqual(paths(report.uploads), ['a', 'b', 'd'])
  assert.deepEqual(report.skipped, skippedBy('run_quota', 'c', 'e'))
})

test('the quota of a run counts all its reports and attempts, and another run has its own', async () => {
  await send([fileOf('a', 40), fileOf('b', 40)])
  const other = await send([fileOf('a', 20), fileOf('b', 1)], { job: { name: 'other' } })
  assert.deepEqual([paths(other.uploads), other.skipped], [['a'], skippedBy('run_quota', 'b')])
  await newRun()
  assert.deepEqual((await send([fileOf('a', 40)])).skipped, [])
})

test('a stored file counts at any position in the request', async () => {
  const report = await send([])
  for (const path of ['1', '2']) await uploadArtifact(api, caller, report, path, text(40, path))
  const again = await send([fileOf('new', 40), artifactOf('1', text(40, '1')), artifactOf('2', text(40, '2'))])
  assert.deepEqual(again.uploads, [])
  assert.deepEqual(again.skipped, [
    { path: 'new', reason: 'run_quota' },
    { path: '1', reason: 'already_uploaded' },
    { path: '2', reason: 'already_uploaded' },
  ])
})

test('a file that replaces another counts by its growth only; a skipped file in addCiArtifacts leaves the stored one in place', async () => {
  const report = await send([])
  for (const path of ['1', '2']) await uploadArtifact(api, caller, report, path, text(40, path))
  const added = await postArtifacts(api, caller, report, [fileOf('1', 41), fileOf('2', 40), fileOf('3', 21)])
  assert.deepEqual(paths(added.body.data.uploads), ['2'])
  assert.deepEqual(added.body.data.skipped, [...skippedBy('too_large', '1'), ...skippedBy('run_quota', '3')])
  const { artifacts } = await storedReport(api, caller, report.report_id)
  assert.deepEqual(
    artifacts.map(({ path, status }) => [path, status]),
    [
      ['1', 'uploaded'],
      ['2', 'pending'],
      ['2', 'uploaded'],
    ],
  )
})

test('a replacing report does not keep an old file at a path whose new file is skipped', async () => {
  const report = await send([])
  await uploadArtifact(api, caller, report, 'a', 'old')
  const again = await send([fileOf('a', 41), fileOf('b', 40), fileOf('c', 40), fileOf('d', 20)])
  assert.deepEqual(again.skipped, skippedBy('too_large', 'a'))
  const { artifacts } = await storedReport(api, caller, report.report_id)
  assert.deepEqual(paths(artifacts), ['b', 'c', 'd'])
})

test('the quota of a run is exact under ten concurrent calls of any kind', async () => {
  const report = await send([])
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0
        ? postArtifacts(api, caller, report, [fileOf(`file-${index}`, 30)]).then(({ body }) => body.data)
        : send([fileOf('file', 30)], { job: { name: `job ${index}` } }),
    ),
  )
  assert.equal(answers.flatMap(({ uploads }) => uploads).length, 3)
  assert.deepEqual(
    new Set(answers.flatMap(({ skipped }) => skipped).map(({ reason }) => reason)),
    new Set(['run_quota']),
  )
})

test('the quota of a run is exact under ten concurrent calls for ten of its reports', async () => {
  const jobs = Array.from({ length: 10 }, (_, index) => ({ job: { name: `job ${index}` } }))
  const reports = await Promise.all(jobs.map((job) => send([], job)))
  const answers = await Promise.all(reports.map((report) => postArtifacts(api, caller, report, [fileOf('file', 30)])))
  assert.equal(answers.flatMap(({ body }) => body.data.uploads).length, 3)
})

test('a slot that expired unused no longer counts for the run', async () => {
  const full = [fileOf('a', 40), fileOf('b', 40), fileOf('c', 20)]
  await send(full, { job: { name: 'lost' } })
  assert.deepEqual((await send([fileOf('d', 40)])).skipped, skippedBy('run_quota', 'd'))
  api.clock.advance(15 * MINUTE_MS - 1)
  assert.deepEqual((await send([fileOf('d', 40)])).skipped, skippedBy('run_quota', 'd'))
  api.clock.advance(1)
  assert.deepEqual((await send(full)).skipped, [])
})

test('files that were PUT in time and completed late are stored while there is room, then rejected as run_quota', async () => {
  const late = ['a', 'b'].map((path) => artifactOf(path, text(40, path)))
  const report = await send(late, { job: { name: 'late' } })
  for (const slot of report.uploads) assert.equal((await putArtifact(slot, text(40, slot.path))).status, 200)
  api.clock.advance(15 * MINUTE_MS)
  await send([fileOf('c', 40)])
  const ids = report.uploads.map(({ artifact_id }: Json) => artifact_id)
  for (const _ of ['completed', 'completed again']) {
    const { body } = await postComplete(api, caller, report, ids)
    assert.deepEqual(body.data.results, [
      { artifact_id: ids[0], status: 'uploaded', reason: null },
      { artifact_id: ids[1], status: 'rejected', reason: 'run_quota' },
    ])
  }
  assert.equal(await api.services.objects.stat(`artifacts/${caller.orgId}/${ids[1]}`), null)
})

test('uploaded files count toward the quota of the run without a time limit', async () => {
  const report = await send([])
  for (const path of ['1', '2']) await uploadArtifact(api, caller, report, path, text(40, path))
  api.clock.advance(30 * MINUTE_MS)
  const { body } = await postArtifacts(api, caller, report, [fileOf('3', 21)])
  assert.deepEqual(body.data.skipped, skippedBy('run_quota', '3'))
})

test("monthly_quota beyond the organization's bytes of a month, over all its runs; the rest is stored", async () => {
  caller = await api.caller({ plan: 'monthly' })
  for (const _ of ['first', 'second', 'third']) {
    await newRun()
    assert.deepEqual((await send([fileOf('a', 40)])).skipped, [])
  }
  await newRun()
  const report = await send([fileOf('a', 40), fileOf('b', 30), fileOf('c', 1)], { attestations: [TESTS] })
  assert.deepEqual(paths(report.uploads), ['b'])
  assert.deepEqual(report.skipped, skippedBy('monthly_quota', 'a', 'c'))
  assert.equal((await storedReport(api, caller, report.report_id)).attestations.length, 1)
})

test('the quota starts again in the next month', async () => {
  caller = await api.caller({ plan: 'monthly' })
  await newRun()
  await send([fileOf('a', 40), fileOf('b', 40), fileOf('c', 20)])
  await newRun()
  assert.deepEqual((await send([fileOf('a', 40), fileOf('b', 20)])).skipped, skippedBy('monthly_quota', 'b'))
  const nextMonth = new Date(api.clock.now())
  nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 1)
  api.clock.advance(nextMonth.getTime() - api.clock.now().getTime())
  await newRun()
  assert.deepEqual((await send([fileOf('a', 40), fileOf('b', 40)])).skipped, [])
})

test('a repeated file counts once per month, and a skipped one does not count', async () => {
  caller = await api.caller({ plan: 'monthly' })
  await newRun()
  const artifacts = [fileOf('a', 40), fileOf('large', 41), fileOf('b', 40), fileOf('c', 20), fileOf('over', 20)]
  for (const _ of ['first', 'again', 'once more']) assert.equal((await send(artifacts)).uploads.length, 3)
  await newRun()
  const { uploads, skipped } = await send([fileOf('a', 40), fileOf('b', 10), fileOf('c', 1)])
  assert.deepEqual([paths(uploads), skipped], [['a', 'b'], skippedBy('monthly_quota', 'c')])
})

test('the quota of a month is exact under ten concurrent calls for ten runs', async () => {
  caller = await api.caller({ plan: 'monthly' })
  const runs = await Promise.all(Array.from({ length: 10 }, () => createRun(api, caller)))
  const reports = await Promise.all(runs.map(({ id }) => sendReport(api, caller, id, { artifacts: [fileOf('a', 40)] })))
  assert.equal(reports.flatMap(({ uploads }) => uploads).length, 3)
})
