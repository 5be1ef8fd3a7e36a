import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../../../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { artifactOf, postArtifacts, sendReport, TESTS, uploadArtifact } from '../../../../support/ci-reports.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { responseChecker } from '../../../../support/response-schema.ts'

let api: TestApi
let caller: Caller
let viewer: Person
let check: Awaited<ReturnType<typeof responseChecker>>

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  viewer = await createPerson(api, { ...caller, role: 'viewer' })
  check = await responseChecker(api, '/app/api')
})
after(() => api?.close())

const get = (path: string) => requestAs(api, viewer, 'GET', path)

test('the reports of a run, newest first, with their attestations and without their summaries', async () => {
  const run = await createRun(api, caller)
  const unit = await sendReport(api, caller, run.id, {
    job: { name: 'unit', matrix: { os: 'linux' }, runner: 'm1' },
    summary: '# Passed\n<script>alert(1)</script>',
    attestations: [TESTS],
  })
  api.clock.advance(1000)
  const lint = await sendReport(api, caller, run.id, { job: { name: 'lint' } })
  const answer = await get(`/runs/${run.id}/reports`)
  check('/app/api/orgs/{org}/runs/{id}/reports', '200', answer.body)
  const [first, second] = answer.body.data
  assert.deepEqual([first.id, second.id], [lint.report_id, unit.report_id])
  assert.deepEqual(second.job, {
    ...{ name: 'unit', matrix: { os: 'linux' }, runner: 'm1' },
    ...{ key: null, instance: null, retries: null },
  })
  assert.deepEqual([first.has_summary, second.has_summary], [false, true])
  assert.deepEqual(
    second.attestations.map(({ kind, name, status, data }: Json) => [kind, name, status, data]),
    [['test-results', 'unit', 'pass', undefined]],
  )
})

test('pages of reports are bound to their run', async () => {
  const [run, other] = [await createRun(api, caller), await createRun(api, caller)]
  for (const name of ['a', 'b', 'c']) await sendReport(api, caller, run.id, { job: { name } })
  const first = await get(`/runs/${run.id}/reports?limit=2`)
  const cursor = encodeURIComponent(first.body.next_cursor)
  const second = await get(`/runs/${run.id}/reports?limit=2&cursor=${cursor}`)
  const names = [...first.body.data, ...second.body.data].map(({ job }: Json) => job.name)
  assert.deepEqual(names.sort(), ['a', 'b', 'c'])
  assert.equal(second.body.next_cursor, null)
  assertError(await get(`/runs/${other.id}/reports?limit=2&cursor=${cursor}`), 400, 'invalid_cursor')
})

test('a report has its summary as it was sent, and the data of its attestations', async () => {
  const run = await createRun(api, caller)
  const summary = '| a |\n|---|\n| <img src=x onerror=alert(1)> |'
  const { report_id } = await sendReport(api, caller, run.id, { summary, attestations: [TESTS] })
  const answer = await get(`/runs/${run.id}/reports/${report_id}`)
  check('/app/api/orgs/{org}/runs/{id}/reports/{report_id}', '200', answer.body)
  assert.equal(answer.body.data.summary, summary)
  assert.deepEqual(answer.body.data.attestations[0].data, TESTS.data)
})

test('404 not_found for a report of another run', async () => {
  const [run, other] = [await createRun(api, caller), await createRun(api, caller)]
  const { report_id } = await sendReport(api, caller, run.id)
  assertError(await get(`/runs/${other.id}/reports/${report_id}`), 404, 'not_found')
  assertError(await get('/runs/nobody/reports'), 404, 'not_found')
  assertError(await get('/runs/nobody/artifacts'), 404, 'not_found')
})

test('404 not_found for the reports of a run beyond the data retention', async () => {
  const owner = await api.caller({ plan: 'team' })
  const person = await createPerson(api, owner)
  const run = await createRun(api, owner)
  const report = await sendReport(api, owner, run.id)
  const id = await uploadArtifact(api, owner, report as never, 'a', 'bytes')
  const createdAt = new Date(api.clock.now().getTime() - 91 * DAY_MS)
  await api.services.sql`
    update ci_runs
    set created_at = ${createdAt}, started_at = ${createdAt}, completed_at = ${createdAt}, status = 'success'
    where id = ${run.id}`
  for (const path of [`/runs/${run.id}/reports`, `/runs/${run.id}/artifacts`, `/artifacts/${id}/download`]) {
    assertError(await requestAs(api, person, 'GET', path), 404, 'not_found')
  }
})

test('the artifacts of a run with their status', async () => {
  const run = await createRun(api, caller)
  const report = await sendReport(api, caller, run.id, { job: { name: 'build' } })
  const uploaded = await uploadArtifact(api, caller, report as never, 'dist/app.js', 'bytes')
  api.clock.advance(1000)
  const { uploads } = (await postArtifacts(api, caller, report as never, [artifactOf('late', 'x')])).body.data
  const answer = await get(`/runs/${run.id}/artifacts`)
  check('/app/api/orgs/{org}/runs/{id}/artifacts', '200', answer.body)
  assert.deepEqual(
    answer.body.data.map(({ id, path, status, job_name }: Json) => [id, path, status, job_name]),
    [
      [uploads[0].artifact_id, 'late', 'pending', 'build'],
      [uploaded, 'dist/app.js', 'uploaded', 'build'],
    ],
  )
  assertError(await get(`/artifacts/${uploads[0].artifact_id}/download`), 404, 'not_found')
})
