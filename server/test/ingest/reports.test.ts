import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { TRUST_PROVIDERS } from '../../src/access/oidc-trusts/token-job.ts'
import { toBrowserAddress } from '../../src/platform/loopback.ts'
import { postReport, scan, storedReport, TESTS } from '../support/ci-reports.ts'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import { describeFile, type IngestAnswer } from '../support/ingest-client.ts'
import type { Json } from '../support/json.ts'

let server: IngestServer
let runs = 0
/** A run of its own for each test. */
let run: { run_id: string }

before(async () => {
  server = await startIngestServer()
})
after(() => server?.close())
beforeEach(() => {
  runs += 1
  run = { run_id: `${9000 + runs}` }
})

const client = () => server.client({ claims: run })
const send = (fields?: Record<string, unknown>, files?: Record<string, string | Buffer>) => client().send(fields, files)
const stored = (reportId: string) => storedReport(server.api, server.caller, reportId)

async function accepted(fields?: Record<string, unknown>, files?: Record<string, string>): Promise<Json> {
  const { report } = await send(fields, files)
  assert.equal(report.status, 200, report.text)
  return report.body
}

async function runOf(reportId: string): Promise<Json> {
  const [row] = await server.api.services.sql<Json[]>`
    select run.id, run.ci_system, run.external_run_id, run.repository, run.trust, report.trust as report_trust
    from ci_reports report
    join ci_runs run on run.org_id = report.org_id and run.id = report.run_id
    where report.org_id = ${server.caller.orgId}
      and report.id = ${reportId}`
  return row
}

const RUNS = {
  github: ['github-actions', '11223344556'],
  gitlab: ['gitlab-ci', '1519139981'],
  bitbucket: ['bitbucket-pipelines', '805b0ca6-1086-4d23-b526-de1d38cf3bf1'],
  azure: ['azure-pipelines', '5021'],
}

for (const provider of TRUST_PROVIDERS) {
  test(`a job of ${provider} sends a report with files, streamed in chunks, and completes them`, async () => {
    const files = { 'dist/app.bin': Buffer.alloc(300_000, provider), 'empty.txt': '' }
    const { report, results } = await server.client({ provider }).send({ attestations: [TESTS] }, files)
    assert.equal(report.status, 200, report.text)
    const { reportId, url, trusted, warnings, skipped, uploads, ...others } = report.body
    assert.deepEqual(others, {})
    assert.match(reportId, /^1-[0-9a-f]{24}$/)
    assert.deepEqual([trusted, warnings, skipped], [true, [], []])
    assert.deepEqual(
      results,
      uploads.map(({ artifactId }: Json) => ({ artifactId, status: 'uploaded' })),
    )
    for (const upload of uploads) {
      assert.deepEqual(Object.keys(upload), ['artifactId', 'path', 'url', 'method', 'headers', 'expiresAt'])
      assert.ok(!Object.keys(upload.headers).some((name) => name.toLowerCase() === 'content-length'))
    }
    const { attestations, artifacts } = await stored(reportId)
    assert.deepEqual(
      artifacts.map(({ path, status }) => [path, status]),
      [
        ['dist/app.bin', 'uploaded'],
        ['empty.txt', 'uploaded'],
      ],
    )
    assert.deepEqual([attestations[0]?.data, attestations[0]?.status], [TESTS.data, 'pass'])
    const run = await runOf(reportId)
    assert.deepEqual([run.ci_system, run.external_run_id], RUNS[provider])
    assert.deepEqual([run.trust, run.report_trust], ['verified', 'verified'])
    assert.equal(url, `${toBrowserAddress(server.api.services.config.baseUrl)}/runs/${run.id}/reports/${reportId}`)
  })
}

test('a report has the same id and the same content whichever route it came by', async () => {
  const attestations = [
    TESTS,
    scan({ artifact: 'a.sarif' }),
    { kind: 'custom', name: 'x', status: 'warn', data: { a: [null] } },
  ]
  const files = { 'a.sarif': '{}', 'b.txt': 'b' }
  const job = { name: 'test', matrix: { os: 'linux', node: 24 }, runner: 'runner-1' }
  const first = await send({ job, name: 'second', summary: 'Text', attestations }, files)
  const { reportId } = first.report.body
  const ingested = await stored(reportId)

  const { id } = await runOf(reportId)
  const artifacts = Object.entries(files).map(([path, content]) => {
    const { size, sha256 } = describeFile(path, content)
    return { path, size, sha256 }
  })
  const body = { job, name: 'second', summary: 'Text', attestations, artifacts }
  const own = { ...server.caller, key: await server.sign('github', run) }
  const answer = await postReport(server.api, own, id, body)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data.report_id, reportId)
  assert.deepEqual(
    answer.body.data.skipped,
    artifacts.map(({ path }) => ({ path, reason: 'already_uploaded' })),
  )
  assert.deepEqual(await stored(reportId), ingested)

  const again = await send({ job, name: 'second', summary: 'Text', attestations }, files)
  assert.equal(again.report.body.reportId, reportId)
  assert.deepEqual(again.report.body.skipped, answer.body.data.skipped)
  assert.deepEqual(await stored(reportId), ingested)
})

test('a report is trusted only if the token names the run and no code of strangers may have run', async () => {
  for (const [event_name, trusted] of [
    ['push', true],
    ['pull_request_target', false],
    ['pull_request', false],
  ] as const) {
    const claims = { run_id: `${run.run_id}${event_name.length}`, event_name }
    const { report } = await server.client({ claims }).send()
    assert.equal(report.body.trusted, trusted, event_name)
  }
})

test('null and unknown fields are accepted at every level', async () => {
  const next = { of: ['the next version'] }
  const body = {
    ...{ version: 1, next, name: null, summary: null },
    job: { name: 'test', matrix: null, runner: null, next },
    attestations: [{ ...TESTS, status: null, next, data: { ...TESTS.data, durationSeconds: null, failures: null } }],
    artifacts: [{ ...describeFile('a', 'a'), next }],
    subjects: [{ name: 'app', sha256: 'a'.repeat(64), mediaType: null, platforms: null, next }],
  }
  const { reportId } = await accepted(body)
  const minimal = await accepted({ attestations: null, artifacts: null, subjects: null, job: { name: 'test' } })
  assert.equal(minimal.reportId, reportId)
  assert.deepEqual([minimal.uploads, minimal.skipped, minimal.warnings], [[], [], []])
})

test('a matrix may be any JSON, or a text of it', async () => {
  const idOf = async (matrix: unknown) => (await accepted({ job: { name: 'test', matrix } })).reportId
  assert.equal(await idOf('null'), await idOf(undefined))
  assert.equal(await idOf('{"node":24,"os":["a"]}'), await idOf({ os: ['a'], node: 24 }))
  assert.equal(await idOf('[1,2]'), await idOf([1, 2]))
  assert.equal(await idOf({ a: { x: 1, y: 2 } }), await idOf({ a: { y: 2, x: 1 } }))
  const ids = await Promise.all([null, [1, 2], [2, 1], 3, '3x', true, { a: '[1]' }, { a: [1] }].map(idOf))
  assert.equal(new Set(ids).size, ids.length)
})

test('REPORT_REPLACED_BY_OTHER_RUNNER when another runner sent the same report before', async () => {
  const warningsOf = async (runner: string | null) => (await accepted({ job: { name: 'test', runner } })).warnings
  assert.deepEqual(await warningsOf('runner-1'), [])
  assert.deepEqual(await warningsOf('runner-1'), [])
  assert.deepEqual(await warningsOf('runner-2'), ['REPORT_REPLACED_BY_OTHER_RUNNER'])
  assert.deepEqual(await warningsOf(null), [])
})

test('a status that differs from the derived one, and one for provenance', async () => {
  const provenance = { kind: 'provenance', name: 'slsa', data: { predicateType: 'https://slsa.dev/provenance/v1' } }
  const { reportId, warnings } = await accepted({ attestations: [{ ...TESTS, status: 'fail' }, provenance] })
  assert.match(warnings.join(), /test-results "unit" is derived from its data: pass, not fail/)
  const { attestations } = await stored(reportId)
  assert.deepEqual(
    attestations.map(({ kind, status }) => [kind, status]),
    [
      ['provenance', 'info'],
      ['test-results', 'pass'],
    ],
  )
})

test('text that cannot be stored is replaced, in the body and in a matrix', async () => {
  const failures = [{ suite: 'a\0b', name: 'half \ud83d', message: null }]
  const data = { passed: 1, failed: 1, skipped: 0, errors: 0, failures }
  const { reportId } = await accepted({
    job: { name: 'test', matrix: '{"a":"\\u0000"}' },
    attestations: [{ kind: 'test-results', name: 'unit', data }],
  })
  const { report, attestations } = await stored(reportId)
  assert.deepEqual(report.matrix, { a: '\ufffd' })
  assert.deepEqual(attestations[0]?.data.failures, [{ suite: 'a\ufffdb', name: 'half \ufffd', message: null }])
})

const LONG = 'x'.repeat(101)
const items = (count: number, item: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => item(index))
const failures = (count: number, message: string) => ({
  ...TESTS,
  data: { ...TESTS.data, failures: items(count, (index) => ({ suite: null, name: `${index}`, message })) },
})
const custom = (name: string, data: object) => ({ kind: 'custom', name, status: 'info', data })
const text = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })

const LIMITS: [what: string, within: Record<string, unknown>, above: Record<string, unknown>, names: RegExp][] = [
  ['a job name of 100 characters', { job: { name: LONG.slice(1) } }, { job: { name: LONG } }, /job\/name/],
  ['a report name of 100 characters', { name: LONG.slice(1) }, { name: LONG }, /body\/name/],
  ['a runner of 200 characters', { job: { runner: 'x'.repeat(200) } }, { job: { runner: 'x'.repeat(201) } }, /runner/],
  ['a summary of 1 MiB', { summary: 'x'.repeat(2 ** 20) }, { summary: 'x'.repeat(2 ** 20 + 1) }, /summary/],
  ['a summary of 1 MiB in bytes', { summary: 'é'.repeat(2 ** 19) }, { summary: 'é'.repeat(2 ** 19 + 1) }, /summary/],
  [
    '20 attestations of 256 KiB',
    { attestations: items(20, (index) => custom(`${index}`, text(262_144))) },
    { attestations: items(21, (index) => custom(`${index}`, {})) },
    /attestations/,
  ],
  [
    'data of 256 KiB',
    { attestations: [custom('x', text(262_144))] },
    { attestations: [custom('x', text(262_145))] },
    /attestations\/0\/data/,
  ],
  [
    '50 failures',
    { attestations: [failures(50, 'failed')] },
    { attestations: [failures(51, 'failed')] },
    /attestations\/0\/data\/failures/,
  ],
  [
    '50 artifacts',
    { artifacts: items(50, (index) => describeFile(`${index}`, 'a')) },
    { artifacts: items(51, (index) => describeFile(`${index}`, 'a')) },
    /artifacts/,
  ],
]

for (const [what, within, above, names] of LIMITS) {
  test(`${what}: accepted, and 400 INVALID_REQUEST above`, async () => {
    await accepted(within)
    const { report } = await send(above)
    assert.deepEqual([report.status, report.body.code, report.body.retryable], [400, 'INVALID_REQUEST', false])
    assert.match(report.body.error, names)
  })
}

test('messages that are too long are cut with a warning', async () => {
  const { reportId, warnings } = await accepted({ attestations: [failures(50, 'é'.repeat(50_000))] })
  assert.match(warnings.join(), /messages of test-results "unit" were cut/)
  const { attestations } = await stored(reportId)
  assert.ok(Buffer.byteLength(JSON.stringify(attestations[0]?.data)) <= 262_144)
  assert.ok(attestations[0]?.data.failures[49].message.length > 2000)
})

test('404 REPORT_NOT_FOUND for a report of another run, an unknown one, and a text that is no id', async () => {
  const { reportId } = await accepted()
  const complete = (id: string) => server.client({ claims: { run_id: '777' } }).complete(id, [])
  assert.equal((await server.client({ claims: { run_id: '777' } }).send()).report.status, 200)
  for (const id of [reportId, '1-000000000000000000000000', 'x', '%00', '1']) {
    const { status, body } = await complete(id)
    assert.deepEqual([status, body.code, body.retryable], [404, 'REPORT_NOT_FOUND', false], id)
  }
})

test('a completion names each file: uploaded, rejected with a reason, missing, and again the same', async () => {
  const files = ['a', 'b', 'c'].map((path) => describeFile(path, path))
  const { reportId, uploads } = await accepted({ artifacts: files })
  const [a, b, c] = uploads.map(({ artifactId }: Json) => artifactId)
  assert.equal((await client().put(uploads[0], Buffer.from('a'))).status, 200)
  assert.equal((await client().put(uploads[1], Buffer.from('B'))).status, 400)
  assert.equal((await client().put(uploads[1], Buffer.from('long'))).status, 413)
  const expected = [
    { artifactId: a, status: 'uploaded' },
    { artifactId: b, status: 'missing' },
    { artifactId: c, status: 'missing' },
    { artifactId: 'x', status: 'missing', reason: 'unknown_artifact' },
  ]
  for (let times = 0; times < 2; times += 1) {
    assert.deepEqual((await client().complete(reportId, [a, b, c, 'x'])).body, { results: expected })
  }
  assert.deepEqual((await client().complete(reportId, [])).body, { results: [] })
})

test('files that the plan does not allow are skipped, and the rest of the report is stored', async () => {
  const artifacts = [{ ...describeFile('large', 'x'), size: 2 ** 40 }, describeFile('small', 'x')]
  const { skipped, uploads } = await accepted({ artifacts })
  assert.deepEqual(skipped, [{ path: 'large', reason: 'too_large' }])
  assert.deepEqual(
    uploads.map(({ path }: Json) => path),
    ['small'],
  )
})

test('the same report from many tries at once is one report of one run', async () => {
  const answers: IngestAnswer[] = await Promise.all(
    items(8, () => ({})).map(async () => (await send({ attestations: [TESTS] })).report),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(new Set(answers.map(({ body }) => body.reportId)).size, 1)
  const [row] = await server.api.services.sql<[{ count: number }]>`
    select count(*) as count
    from ci_runs
    where org_id = ${server.caller.orgId}
      and external_run_id = ${run.run_id}`
  assert.equal(row.count, 1)
})

test('jobs of one name are told apart by the execution that their tokens name, and by a key', async () => {
  const report = async (check_run_id: number, job: Json, attestation: Json = TESTS) => {
    const client = server.client({ claims: { ...run, check_run_id } })
    const sent = await client.send({ job: { name: 'test', ...job }, attestations: [attestation] })
    assert.equal(sent.report.status, 200, sent.report.text)
    return sent.report.body as Json
  }
  const first = await report(101, { runner: 'one' })
  const second = await report(102, { runner: 'two' })
  assert.notEqual(first.reportId, second.reportId)
  assert.deepEqual([first.warnings, second.warnings], [[], ['SAME_NAME_DIFFERENT_JOB']])
  const third = await report(103, { key: 'build', retries: 2 })
  const older = await report(103, { key: 'build', retries: 1 })
  assert.deepEqual([older.reportId, older.warnings, older.uploads], [third.reportId, ['OLDER_TRY'], []])
  const nulls = await report(104, { key: null, instance: null, retries: null })
  assert.equal((await report(104, {})).reportId, nulls.reportId)
})
