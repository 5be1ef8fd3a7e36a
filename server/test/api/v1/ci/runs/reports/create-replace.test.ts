import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import {
  artifactOf,
  postArtifacts,
  postComplete,
  postReport,
  putArtifact,
  sbom,
  sendReport,
  storedReport,
  TESTS,
  uploadArtifact,
} from '../../../../../support/ci-reports.ts'
import { createRun, postRun } from '../../../../../support/ci-runs.ts'
import type { Json } from '../../../../../support/json.ts'
import { drainQueue } from '../../../../../support/queue.ts'

let api: TestApi
let caller: Caller
let runId: string

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  runId = (await createRun(api, caller, { external_run_id: 'replaced' })).id
})

const send = (fields: Record<string, unknown> = {}) => sendReport(api, caller, runId, fields)
const stored = (reportId: string) => storedReport(api, caller, reportId)
const paths = (items: Json[]) => items.map(({ path }) => path)
const job = (fields: Record<string, unknown> = {}) => ({ job: { name: 'test', ...fields } })

test('201 for a new report, 200 with the same id for its replacement', async () => {
  const first = await postReport(api, caller, runId, job())
  const second = await postReport(api, caller, runId, job())
  assert.deepEqual([first.status, second.status], [201, 200])
  assert.equal(first.body.data.report_id, second.body.data.report_id)
})

test('the same attempt, job, matrix and name are the same report, in any order of the matrix keys', async () => {
  const linux = await send(job({ matrix: { os: 'linux', node: 24 } }))
  const again = await send({
    ...job({ matrix: { node: 24, os: 'linux' }, runner: 'r-2' }),
    summary: 'other',
    attempt: 1,
  })
  assert.equal(again.report_id, linux.report_id)
})

test('another attempt, job, matrix, name or run is another report', async () => {
  const reports = [
    await send(),
    await send({ name: 'second' }),
    await send(job({ name: 'Test' })),
    await send(job({ matrix: { os: 'linux' } })),
    await send(job({ matrix: { os: 'windows' } })),
    await send(job({ matrix: { os: null } })),
    await sendReport(api, caller, (await createRun(api, caller)).id),
  ]
  await postRun(api, caller, { external_run_id: 'replaced', attempt: 2 })
  reports.push(await send())
  assert.equal(new Set(reports.map(({ report_id }) => report_id)).size, reports.length)
})

test('the id does not depend on other reports of the organization', async () => {
  const { report_id } = await send()
  for (let made = 0; made < 3; made += 1) await sendReport(api, caller, (await createRun(api, caller)).id)
  assert.equal((await send()).report_id, report_id)
})

test('a replacement removes everything that it does not contain: summary, runner, attestations, artifacts', async () => {
  const artifacts = [artifactOf('a', 'a'), artifactOf('b', 'b')]
  const { report_id } = await send({
    ...job({ runner: 'r-1' }),
    summary: 'x',
    attestations: [TESTS, sbom()],
    artifacts,
  })
  await send({ attestations: [sbom({ components: 8 })], artifacts: [artifactOf('b', 'b')] })
  const after = await stored(report_id)
  assert.deepEqual([after.report.summary, after.report.runner], [null, null])
  assert.deepEqual(
    after.attestations.map(({ kind, data }) => [kind, data.components]),
    [['sbom', 8]],
  )
  assert.deepEqual(paths(after.artifacts), ['b'])
})

test('a file already uploaded with the same checksum is skipped as already_uploaded and stays', async () => {
  const report = await send()
  const id = await uploadArtifact(api, caller, report, 'kept', 'bytes')
  const again = await send({ artifacts: [artifactOf('kept', 'bytes'), artifactOf('new', 'x')] })
  assert.deepEqual(again.skipped, [{ path: 'kept', reason: 'already_uploaded' }])
  assert.deepEqual(paths(again.uploads), ['new'])
  const { artifacts } = await stored(report.report_id)
  assert.deepEqual(artifacts[0], { id, path: 'kept', status: 'uploaded', sha256: artifactOf('kept', 'bytes').sha256 })
})

test('an uploaded file stays until another at its path has been completed', async () => {
  const report = await send()
  const old = await uploadArtifact(api, caller, report, 'a', 'old')
  const states = async () =>
    (await stored(report.report_id)).artifacts
      .map(({ id, status }) => [id, status])
      .sort(([, a], [, b]) => (a < b ? 1 : -1))
  for (const announce of [
    () => send({ artifacts: [artifactOf('a', 'new')] }),
    async () => (await postArtifacts(api, caller, report, [artifactOf('a', 'new')])).body.data,
  ]) {
    const { uploads, skipped } = await announce()
    assert.deepEqual([paths(uploads), skipped], [['a'], []])
    const [slot] = uploads
    assert.notEqual(slot.artifact_id, old)
    assert.deepEqual(await states(), [
      [old, 'uploaded'],
      [slot.artifact_id, 'pending'],
    ])
  }
  const [bad] = (await send({ artifacts: [artifactOf('a', 'new')] })).uploads
  await putArtifact(bad, 'new')
  await api.services.sql`update ci_artifacts set sha256 = ${'0'.repeat(64)} where id = ${bad.artifact_id}`
  assert.equal((await postComplete(api, caller, report, [bad.artifact_id])).body.data.results[0].status, 'rejected')
  assert.deepEqual((await states())[0], [old, 'uploaded'])
  const [good] = (await send({ artifacts: [artifactOf('a', 'new')] })).uploads
  await putArtifact(good, 'new')
  assert.equal((await postComplete(api, caller, report, [good.artifact_id])).body.data.results[0].status, 'uploaded')
  assert.deepEqual(await states(), [[good.artifact_id, 'uploaded']])
})

test('an SBOM that names a file says nothing while another file is announced at its path', async () => {
  const files = [1, 2].map((version) =>
    JSON.stringify({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version,
      components: [{ type: 'library', name: 'a' }],
    }),
  )
  const item = sbom({ artifact: 'a.json' })
  const announce = async (file = '') => {
    const { uploads, ...report } = await send({ attestations: [item], artifacts: [artifactOf('a.json', file)] })
    await drainQueue(api)
    return { slot: uploads[0], report }
  }
  const complete = async ({ slot, report }: Json, file = '') => {
    await putArtifact(slot, file)
    await postComplete(api, caller, report, [slot.artifact_id])
    await drainQueue(api)
  }
  const status = async ({ report }: Json) => (await stored(report.report_id)).attestations.map((it) => it.status)
  const first = await announce(files[0])
  await complete(first, files[0])
  assert.deepEqual(await status(first), ['pass'])
  const second = await announce(files[1])
  assert.deepEqual(await status(second), ['info'])
  await complete(second, files[1])
  assert.deepEqual(await status(second), ['pass'])
})

test('a file that is sent again takes back what was announced at its path', async () => {
  const report = await send()
  const old = await uploadArtifact(api, caller, report, 'a', 'old')
  await send({ artifacts: [artifactOf('a', 'new')] })
  const { skipped } = (await postArtifacts(api, caller, report, [artifactOf('a', 'old')])).body.data
  assert.deepEqual(skipped, [{ path: 'a', reason: 'already_uploaded' }])
  assert.deepEqual(
    (await stored(report.report_id)).artifacts.map(({ id }) => id),
    [old],
  )
})

test('an open slot is returned again with the same id and another 15 minutes', async () => {
  const artifacts = [artifactOf('a', 'a')]
  const [first] = (await send({ artifacts })).uploads
  api.clock.advance(10 * 60_000)
  const [second] = (await send({ artifacts })).uploads
  assert.equal(second.artifact_id, first.artifact_id)
  assert.equal(Date.parse(second.expires_at) - Date.parse(first.expires_at), 10 * 60_000)
  assert.equal((await putArtifact(first, 'a')).status, 200)
})

test('a warning names the runner of a replaced report, unless the runner is the same or unknown', async () => {
  assert.deepEqual((await send(job({ runner: 'r-1' }))).warnings, [])
  assert.deepEqual((await send(job({ runner: 'r-1' }))).warnings, [])
  const { warnings } = await send(job({ runner: 'r-2' }))
  assert.equal(warnings.length, 1)
  assert.match(warnings[0], /"r-1"/)
  assert.deepEqual((await send()).warnings, [])
  assert.deepEqual((await send(job({ runner: 'r-3' }))).warnings, [])
})

test('twelve identical concurrent reports: one 201, eleven 200, one effect', async () => {
  const body = { ...job({ runner: 'r-1' }), attestations: [TESTS, sbom()], artifacts: [artifactOf('a', 'a')] }
  const answers = await Promise.all(Array.from({ length: 12 }, () => postReport(api, caller, runId, body)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201])
  const [first] = answers.map(({ body }) => body.data)
  for (const { body } of answers) {
    assert.deepEqual(
      [body.data.report_id, body.data.uploads[0].artifact_id, body.data.warnings],
      [first.report_id, first.uploads[0].artifact_id, []],
    )
  }
  const { attestations, artifacts } = await stored(first.report_id)
  assert.deepEqual([attestations.length, artifacts.length], [2, 1])
})

test('of different concurrent reports of one job, one is stored completely', async () => {
  const reports = Array.from({ length: 8 }, (_, index) => ({
    ...job(),
    summary: `${index}`,
    attestations: [{ ...TESTS, name: `suite ${index}` }],
    artifacts: [artifactOf(`file-${index}`, 'x')],
  }))
  const answers = await Promise.all(reports.map((body) => postReport(api, caller, runId, body)))
  const { report, attestations, artifacts } = await stored(answers[0]?.body.data.report_id)
  assert.deepEqual(
    [attestations.map(({ name }) => name), paths(artifacts)],
    [[`suite ${report.summary}`], [`file-${report.summary}`]],
  )
})

test('completing an artifact that a replacement removed returns missing', async () => {
  const { uploads } = await send({ artifacts: [artifactOf('a', 'a')] })
  await putArtifact(uploads[0], 'a')
  const report = await send()
  const { body } = await postComplete(api, caller, report, [uploads[0].artifact_id])
  assert.equal(body.data.results[0].status, 'missing')
})
