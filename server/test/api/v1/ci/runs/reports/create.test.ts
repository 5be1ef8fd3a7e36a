import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { toBrowserAddress } from '../../../../../../src/platform/loopback.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../support/assert-error.ts'
import { fileOf, postReport, sbom, scan, sendReport, storedReport, TESTS } from '../../../../../support/ci-reports.ts'
import { createRun, postRun } from '../../../../../support/ci-runs.ts'

const MIB = 2 ** 20

let api: TestApi
let caller: Caller
let runId: string

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  runId = (await createRun(api, caller, { external_run_id: 'one' })).id
})
after(() => api?.close())

const post = (body: unknown) => postReport(api, caller, runId, body)
const text = (length: number) => 'x'.repeat(length)
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, index]))
const artifact = fileOf('dist/app.tar', 10)

test('400 that names a number beyond the range of a double, in data and in a matrix', async () => {
  const item = '{"kind":"coverage","name":"unit","data":{"lines":90,"branches":1e400}}'
  assertInvalid(await post(`{"job":{"name":"range"},"attestations":[${item}]}`), '/body/attestations/0/data/branches')
  assertInvalid(await post('{"job":{"name":"range","matrix":{"node":-1e400}}}'), '/body/job/matrix/node')
})

test('201 with every field of a report result, one upload slot per artifact', async () => {
  const { status, body } = await post({
    job: { name: 'complete' },
    summary: '# Done',
    attestations: [TESTS],
    artifacts: [artifact, fileOf('b', 1)],
  })
  assert.equal(status, 201)
  const { report_id, uploads, ...rest } = body.data
  assert.match(report_id, /^[1-9]\d{0,2}-[0-9a-f]{24}$/)
  assert.deepEqual(rest, {
    run_id: runId,
    attempt: 1,
    url: `${toBrowserAddress(api.url)}/runs/${runId}/reports/${report_id}`,
    trust: 'self_reported',
    stands_beside: null,
    skipped: [],
    warnings: [],
  })
  assert.deepEqual(
    uploads.map(({ path }: { path: string }) => path),
    ['dist/app.tar', 'b'],
  )
  const { report, attestations } = await storedReport(api, caller, report_id)
  assert.deepEqual(report, {
    summary: '# Done',
    runner: null,
    job_name: 'complete',
    matrix: null,
    name: 'default',
    attempt: 1,
  })
  assert.deepEqual(
    attestations.map(({ kind, name, status, data }) => ({ kind, name, status, data })),
    [{ ...TESTS, status: 'pass' }],
  )
})

test('a slot contains artifact_id, path, url, method PUT, headers and expires_at, 15 minutes from now', async () => {
  const { uploads } = await sendReport(api, caller, runId, { job: { name: 'slot' }, artifacts: [artifact] })
  const [slot] = uploads
  assert.deepEqual(Object.keys(slot).sort(), ['artifact_id', 'expires_at', 'headers', 'method', 'path', 'url'])
  assert.deepEqual([slot.path, slot.method], [artifact.path, 'PUT'])
  assert.equal(slot.expires_at, new Date(api.clock.now().getTime() + 15 * 60_000).toISOString())
  assert.ok(Object.values(slot.headers).includes(Buffer.from(artifact.sha256, 'hex').toString('base64')))
})

test('201 for a minimal report: job and report are named default', async () => {
  const { status, body } = await post({ job: {} })
  assert.equal(status, 201)
  assert.deepEqual([body.data.uploads, body.data.skipped, body.data.warnings], [[], [], []])
  const { report, attestations, artifacts } = await storedReport(api, caller, body.data.report_id)
  assert.deepEqual([report.job_name, report.name, report.summary], ['default', 'default', null])
  assert.deepEqual([attestations, artifacts], [[], []])
  const named = await post({ job: { name: 'default' }, name: 'default', attestations: [], artifacts: [], attempt: 1 })
  assert.deepEqual([named.status, named.body.data.report_id], [200, body.data.report_id])
})

test('the newest attempt by default, otherwise the attempt of the body', async () => {
  const external_run_id = 'attempts'
  const { id } = await createRun(api, caller, { external_run_id })
  assert.equal((await postRun(api, caller, { external_run_id, attempt: 7 })).status, 201)
  const newest = await sendReport(api, caller, id)
  const first = await sendReport(api, caller, id, { attempt: 1 })
  assert.deepEqual([newest.attempt, first.attempt], [7, 1])
  assert.ok(newest.report_id.startsWith('7-') && first.report_id.startsWith('1-'))
  assert.equal((await sendReport(api, caller, id, { attempt: 7 })).report_id, newest.report_id)
  assertError(await postReport(api, caller, id, { job: {}, attempt: 2 }), 404, 'not_found')
})

test("404 not_found for an unknown run, another organization's run and an attempt that does not exist", async () => {
  const foreign = (await createRun(api, await api.caller())).id
  assertError(await postReport(api, caller, 'run_00000000000000000000000000'), 404, 'not_found')
  assertError(await postReport(api, caller, foreign), 404, 'not_found')
  assertError(await post({ job: {}, attempt: 2 }), 404, 'not_found')
})

test('a finished attempt still accepts reports', async () => {
  const { id } = await createRun(api, caller, { external_run_id: 'finished' })
  await api.request('PATCH', `/v1/ci/runs/${id}`, { key: caller.key, body: { status: 'success' } })
  assert.equal((await postReport(api, caller, id)).status, 201)
})

/** The fields of the body, each with valid and invalid values at its bounds. */
const FIELDS: [field: string, takes: unknown[], refuses: unknown[]][] = [
  ['attempt', [1], [0, -1, 1000, 1.5, '1', null]],
  ['job', [{}, { name: 'x' }], [null, [], 'x']],
  ['job/name', ['x', text(100), '🚀'.repeat(100)], ['', text(101), null, 1]],
  ['job/matrix', [{}, keys(20)], [keys(21), [], 'x', null]],
  ['job/runner', [text(200), ''], [text(201), null, 1]],
  ['name', ['x', text(100)], ['', text(101), null, 1]],
  ['summary', ['', text(MIB), 'é'.repeat(MIB / 2)], [text(MIB + 1), `${'é'.repeat(MIB / 2)}x`, null, 1]],
  ['attestations', [[], attestations(20)], [attestations(21), null, {}]],
  ['artifacts', [[], artifacts(50)], [artifacts(51), null, {}]],
]

function attestations(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => ({ ...TESTS, name: `suite ${index}` }))
}

function artifacts(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => fileOf(`file-${index}`, 1))
}

function bodyWith(field: string, value: unknown): unknown {
  const [outer = '', inner] = field.split('/')
  return inner === undefined ? { job: { name: 'bounds' }, [outer]: value } : { [outer]: { [inner]: value } }
}

for (const [field, takes, refuses] of FIELDS) {
  test(`${field} is accepted within its bounds; beyond them, 400 names /body/${field}`, async () => {
    for (const value of takes) {
      const { status, text } = await post(bodyWith(field, value))
      assert.ok(status === 201 || status === 200, text)
    }
    for (const value of refuses) assertInvalid(await post(bodyWith(field, value)), `/body/${field}`)
  })
}

test('400 at /body/job when it is missing', async () => {
  assertInvalid(await post({ name: 'x' }), '/body/job')
})

test('a matrix contains only scalars; 400 names any other value, whatever its key', async () => {
  const matrix = { text: 'x', number: 1.5, flag: true, nothing: null, '': 'empty', 'a\nb': 1 }
  const { report_id } = await sendReport(api, caller, runId, { job: { name: 'scalars', matrix } })
  assert.deepEqual((await storedReport(api, caller, report_id)).report.matrix, matrix)
  for (const value of [{}, [], ['x'], text(501)]) {
    assertInvalid(await post({ job: { matrix: { key: value } } }), '/body/job/matrix/key')
  }
  assertInvalid(await post({ job: { matrix: { 'a\nb': {} } } }), '/body/job/matrix/a\nb')
})

test('400 names an unknown field, at every level', async () => {
  assertInvalid(await post({ job: {}, conclusion: 'success' }), '/body/conclusion')
  assertInvalid(await post({ job: { os: 'linux' } }), '/body/job/os')
  assertInvalid(await post({ job: {}, attestations: [{ ...TESTS, at: 'now' }] }), '/body/attestations/0/at')
  assertInvalid(await post({ job: {}, artifacts: [{ ...artifact, type: 'text/plain' }] }), '/body/artifacts/0/type')
})

const ITEMS: [item: 'attestations' | 'artifacts', good: object, bad: Record<string, unknown[]>][] = [
  [
    'attestations',
    TESTS,
    {
      kind: [undefined, '', 'test_results', 'TEST-RESULTS', 1, null],
      name: [undefined, '', text(101), 1],
      data: [undefined, null, [], 'x'],
      status: ['passed', '', null],
    },
  ],
  [
    'artifacts',
    artifact,
    {
      path: [undefined, '', '/a', '../a', 'a/../b', 'a//b', 'C:/a', 'a\\b', 'a\nb', text(501), 1],
      size: [undefined, -1, 1.5, '10', null, 2 ** 53],
      sha256: [undefined, '', artifact.sha256.toUpperCase(), artifact.sha256.slice(1), `${artifact.sha256}0`],
    },
  ],
]

for (const [list, good, bad] of ITEMS) {
  for (const [field, values] of Object.entries(bad)) {
    test(`400 at /body/${list}/0/${field} when it is missing or not valid`, async () => {
      for (const value of values) {
        const answer = await post({ job: { name: 'bad' }, [list]: [{ ...good, [field]: value }] })
        assertInvalid(answer, `/body/${list}/0/${field}`)
      }
    })
  }
}

test('400 for the same path, or the same kind and name, twice in a request', async () => {
  assertInvalid(await post({ job: {}, artifacts: [artifact, { ...artifact, size: 11 }] }), '/body/artifacts/1/path')
  assertInvalid(await post({ job: {}, attestations: [TESTS, sbom(), TESTS] }), '/body/attestations/2/name')
})

for (const kind of ['provenance', 'ownership']) {
  test(`400 kind_not_allowed for ${kind}, and nothing of the report is stored`, async () => {
    const job = { name: `with ${kind}` }
    const refused = await post({ job, attestations: [TESTS, { kind, name: 'x', data: {} }], artifacts: [artifact] })
    assertError(refused, 400, 'kind_not_allowed')
    const { sql } = api.services
    assert.equal((await sql`select from ci_reports where job_name = ${job.name}`).length, 0)
    assert.equal((await post({ job })).status, 201)
  })
}

test('400 names the field that data of a known kind lacks, and nothing is stored', async () => {
  const job = { name: 'no figures' }
  const refused = await post({ job, attestations: [sbom(), scan({ high: undefined })] })
  assertInvalid(refused, '/body/attestations/1/data/high')
  assert.equal((await post({ job })).status, 201)
})

test('data may have 64 KiB of JSON; more is a 400, and so is data that is nested too deep', async () => {
  const custom = (data: unknown) => ({ kind: 'custom', name: 'large', status: 'info', data })
  const fits = { text: text(65_536 - '{"text":""}'.length) }
  assert.ok((await post({ job: {}, attestations: [custom(fits)] })).status < 300)
  const tooLarge = custom({ text: `${fits.text}x` })
  assertInvalid(await post({ job: {}, attestations: [tooLarge] }), '/body/attestations/0/data')
  const [before, behind] = JSON.stringify({ job: {}, attestations: [custom({ deep: 0 })] }).split('0')
  const deep = `${before}${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}${behind}`
  assertInvalid(await post(deep), '/body/attestations/0/data')
})

test('a 1 MiB summary with 20 attestations of 64 KiB fits; a body over 4 MiB is 413 payload_too_large', async () => {
  const data = { text: text(65_000) }
  const twenty = Array.from({ length: 20 }, (_, index) => ({ kind: 'custom', name: `${index}`, status: 'info', data }))
  assert.ok((await post({ job: { name: 'full' }, summary: text(MIB), attestations: twenty })).status < 300)
  const padded = (bytes: number) => '{"job":{"name":"padded"}}'.padEnd(bytes)
  assert.ok((await post(padded(4 * MIB))).status < 300)
  assertError(await post(padded(4 * MIB + 1)), 413, 'payload_too_large')
})

test('Markdown, HTML and non-ASCII text is stored as sent; U+0000 is a 400', async () => {
  const summary = '# Ergebnis\r\n<script>alert(1)</script> 🚀'
  const { report_id } = await sendReport(api, caller, runId, { job: { name: 'text' }, summary })
  assert.equal((await storedReport(api, caller, report_id)).report.summary, summary)
  assertInvalid(await post({ job: {}, summary: 'a\0b' }), '/body/summary')
})
