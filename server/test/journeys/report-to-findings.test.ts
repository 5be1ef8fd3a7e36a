import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { expireUploadsJob } from '../../src/security/uploads/expire-uploads.job.ts'
import { startWork } from '../../src/start/work.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import {
  artifactOf,
  postAttestations,
  postComplete,
  putArtifact,
  sbom,
  scan,
  sendReport,
  storedReport,
  uploadArtifact,
} from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { countStates, listFindings, statesByRule } from '../support/findings.ts'
import type { Json } from '../support/json.ts'
import { writePlans } from '../support/plans.ts'
import { drainQueue, listJobs } from '../support/queue.ts'
import { getUpload } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { sarif, sarifResult, scoredResult } from '../support/sarif.ts'

const READS_PER_RUN = 2
const POLLS_MAX = 2000

let api: TestApi
let plans: Awaited<ReturnType<typeof writePlans>>
let caller: Caller
let runId: string

before(async () => {
  plans = await writePlans({
    few: { security_uploads_per_commit_max: READS_PER_RUN },
    short: { security_report_bytes_max: 100 },
    unread: { features: ['api_access'] },
  })
  api = await startTestApi({ env: plans.env })
})
after(async () => {
  await api?.close()
  await plans?.remove()
})
beforeEach(async () => {
  caller = await api.caller()
  runId = (await createRun(api, caller, { event: 'push', ref: 'main' })).id
})

const report = (...rules: string[]) => JSON.stringify(sarif(rules.map((rule) => sarifResult(rule))))
const BOM = JSON.stringify({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  components: [{ type: 'library', name: 'left-pad', version: '1.0.0', purl: 'pkg:npm/left-pad@1.0.0', 'bom-ref': 'a' }],
  vulnerabilities: [{ id: 'CVE-2024-0001', affects: [{ ref: 'a' }], ratings: [{ severity: 'high' }] }],
})
const SPDX = JSON.stringify({
  spdxVersion: 'SPDX-2.3',
  SPDXID: 'SPDXRef-DOCUMENT',
  dataLicense: 'CC0-1.0',
  name: 'app',
  documentNamespace: 'https://example.com/app',
  creationInfo: { created: '2026-01-01T00:00:00Z', creators: ['Tool: syft-1.0.0'] },
  packages: [{ SPDXID: 'SPDXRef-a', name: 'left-pad', versionInfo: '1.0.0', downloadLocation: 'NOASSERTION' }],
})

const send = (fields: Record<string, unknown> = {}) => sendReport(api, caller, runId, fields)
const newRun = async (fields: Record<string, unknown> = {}) => {
  api.clock.advance(1000)
  runId = (await createRun(api, caller, { event: 'push', ref: 'main', ...fields })).id
}

/** A job's report whose scan names a SARIF file with these rules, up to what is found in it. */
async function reportScan(rules: string[], fields: Record<string, unknown> = {}): Promise<Json> {
  const sent = await send({ attestations: [scan({ artifact: 'sast.sarif' })], ...fields })
  const id = await uploadArtifact(api, caller, sent, 'sast.sarif', report(...rules))
  await drainQueue(api)
  return { ...sent, artifact_id: id }
}

async function uploads(): Promise<Json[]> {
  const rows = await api.services.sql<{ id: string }[]>`
    select id
    from security_uploads
    where org_id = ${caller.orgId}
    order by created_at, id`
  return Promise.all(rows.map(({ id }) => getUpload(api, caller, id)))
}

async function attestation(sent: Json, name: string): Promise<Json> {
  const { attestations } = await storedReport(api, caller, sent.report_id)
  return attestations.find((item) => item.name === name)
}

test('a completed SARIF file that a scan names becomes findings of origin report, through an upload of origin report', async () => {
  const { artifact_id } = await reportScan(['a', 'b'])
  const [upload, ...more] = await uploads()
  assert.deepEqual(more, [])
  assert.deepEqual([upload.run_id, upload.artifact_id], [runId, artifact_id])
  const { body } = await api.request('GET', `/v1/security/uploads?run_id=${runId}`, { key: caller.key })
  assert.deepEqual(body.data, [upload])
  const other = await api.request('GET', '/v1/security/uploads?run_id=another', { key: caller.key })
  assert.deepEqual(other.body.data, [])
  assert.deepEqual(
    [upload.origin, upload.status, upload.format, upload.filename, upload.repository, upload.counts.findings],
    ['report', 'finished', 'sarif', 'sast.sarif', 'acme/api', 2],
  )
  assert.deepEqual([upload.git_ref, upload.commit_sha], ['main', 'a'.repeat(40)])
  for (const finding of await listFindings(api, caller)) {
    assert.equal(finding.upload_id, upload.id)
    assert.deepEqual(
      [finding.origin, finding.source, finding.repository, finding.git_ref, finding.commit_sha, finding.tracked],
      ['report', 'sarif', 'acme/api', 'main', 'a'.repeat(40), true],
    )
  }
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'open' })
})

for (const [format, file, components] of [
  ['cyclonedx', BOM, 1],
  ['spdx', SPDX, 1],
] as const) {
  test(`a completed ${format} file that an sbom names is read, and the attestation becomes pass`, async () => {
    const sent = await send({ attestations: [sbom({ artifact: 'bom.json' })] })
    assert.equal((await attestation(sent, 'image')).status, 'info')
    await uploadArtifact(api, caller, sent, 'bom.json', file)
    assert.equal((await attestation(sent, 'image')).status, 'info', 'not before it was read')
    await drainQueue(api)
    const [upload] = await uploads()
    assert.deepEqual([upload.status, upload.format, upload.counts.components], ['finished', format, components])
    assert.equal((await attestation(sent, 'image')).status, 'pass')
  })
}

test("an attestation's figures are stored as sent, and the parsed figures beside them", async () => {
  const sent = await send({ attestations: [scan({ artifact: 'x.sarif', low: 9 }), sbom({ artifact: 'bom.json' })] })
  const file = JSON.stringify(sarif([scoredResult('a', 9.8), scoredResult('b', 5), scoredResult('c', 5)]))
  await uploadArtifact(api, caller, sent, 'x.sarif', file)
  await uploadArtifact(api, caller, sent, 'bom.json', BOM)
  await drainQueue(api)
  const scanned = await attestation(sent, 'sast')
  assert.deepEqual(scanned.data, scan({ artifact: 'x.sarif', low: 9 }).data)
  assert.deepEqual(scanned.parsed, {
    format: 'sarif',
    findings: 3,
    components: 0,
    openBySeverity: { critical: 1, high: 0, medium: 2, low: 0 },
  })
  assert.equal(scanned.status, 'pass', "a scan's status stays what its own figures say")
  const bom = await attestation(sent, 'image')
  assert.equal(bom.data.components, 7)
  assert.deepEqual([bom.parsed.format, bom.parsed.components, bom.parsed.findings], ['cyclonedx', 1, 1])
})

test('read once, however often it is completed, attested and reported, also all at once', async () => {
  const sent = await send({
    attestations: [scan({ artifact: 'a.sarif' })],
    artifacts: [artifactOf('a.sarif', report('a'))],
  })
  const [slot] = sent.uploads
  await putArtifact(slot, report('a'))
  const complete = () => postComplete(api, caller, sent, [slot.artifact_id])
  await Promise.all(Array.from({ length: 12 }, complete))
  const events = await listJobs(api.services.sql)
  assert.deepEqual(events.map(({ name }) => name).sort(), ['event ci.artifact.completed', 'event report.changed'])
  await drainQueue(api)
  await complete()
  await postAttestations(api, caller, sent, [scan({ artifact: 'a.sarif' }), scan({ artifact: 'a.sarif' }, 'again')])
  await send({ attestations: [scan({ artifact: 'a.sarif' })], artifacts: [artifactOf('a.sarif', report('a'))] })
  await drainQueue(api)
  assert.deepEqual(
    (await uploads()).map(({ status }) => status),
    ['finished'],
  )
  assert.equal((await listFindings(api, caller)).length, 1)
})

test('also when the attestation comes after the completion', async () => {
  const sent = await send()
  await uploadArtifact(api, caller, sent, 'a.sarif', report('a'))
  await drainQueue(api)
  assert.deepEqual(await uploads(), [])
  await postAttestations(api, caller, sent, [scan({ artifact: 'a.sarif' })])
  await drainQueue(api)
  assert.deepEqual(await statesByRule(api, caller), { a: 'open' })
})

test('an attestation that names a file which was read before receives the parsed figures', async () => {
  const sent = await send({ attestations: [scan({ artifact: 'bom.json' })] })
  await uploadArtifact(api, caller, sent, 'bom.json', BOM)
  await drainQueue(api)
  await postAttestations(api, caller, sent, [sbom({ artifact: 'bom.json' })])
  await drainQueue(api)
  const { status, parsed } = await attestation(sent, 'image')
  assert.deepEqual([status, parsed], ['pass', (await attestation(sent, 'sast')).parsed])
})

test('a job that is run again and reports the same, attestations last, ends with the same: sbom is pass', async () => {
  for (const _ of ['first', 'again']) {
    const sent = await send({ artifacts: [artifactOf('bom.json', BOM)] })
    for (const slot of sent.uploads) {
      await putArtifact(slot, BOM)
      await postComplete(api, caller, sent, [slot.artifact_id])
    }
    const { body } = await postAttestations(api, caller, sent, [sbom({ artifact: 'bom.json' })])
    assert.equal(body.data.attestations.length, 1)
    await drainQueue(api)
    const { status, parsed } = await attestation(sent, 'image')
    assert.deepEqual([status, parsed.components], ['pass', 1])
  }
  assert.equal((await uploads()).length, 1)
})

test('an sbom whose figures are sent again stays pass while its file stays, and is info again with another file', async () => {
  const sent = await send({ attestations: [sbom({ artifact: 'bom.json' })] })
  await uploadArtifact(api, caller, sent, 'bom.json', BOM)
  await drainQueue(api)
  const again = await postAttestations(api, caller, sent, [sbom({ artifact: 'bom.json', components: 8 })])
  assert.equal(again.body.data.attestations[0].status, 'pass')
  const other = await postAttestations(api, caller, sent, [sbom({ artifact: 'other.json' })])
  assert.equal(other.body.data.attestations[0].status, 'info')
  const { status, parsed } = await attestation(sent, 'image')
  assert.deepEqual([status, parsed], ['info', null])
})

test('parsed figures belong to their file: another file at its path makes the sbom info until it is read', async () => {
  const sent = await send({ attestations: [sbom({ artifact: 'bom.json' })] })
  await uploadArtifact(api, caller, sent, 'bom.json', BOM)
  await drainQueue(api)
  await uploadArtifact(api, caller, sent, 'bom.json', 'not a bill of materials')
  await drainQueue(api)
  const { status, parsed } = await attestation(sent, 'image')
  assert.deepEqual([status, parsed], ['info', null])
  await uploadArtifact(api, caller, sent, 'bom.json', `${BOM}\n`)
  await drainQueue(api)
  assert.equal((await attestation(sent, 'image')).status, 'pass')
})

test('a file that no scan or sbom names is not read', async () => {
  const custom = { kind: 'custom', name: 'x', status: 'info', data: { artifact: 'a.sarif' } }
  const sent = await send({ attestations: [custom, scan({ artifact: 'A.sarif' }), sbom()] })
  await uploadArtifact(api, caller, sent, 'a.sarif', report('a'))
  const other = await send({ job: { name: 'other' }, attestations: [scan({ artifact: 'a.sarif' })] })
  await drainQueue(api)
  assert.deepEqual(await uploads(), [])
  await uploadArtifact(api, caller, other, 'a.sarif', report('b'))
  await drainQueue(api)
  assert.deepEqual(await statesByRule(api, caller), { b: 'open' })
})

test('a file that cannot be read fails its upload with a reason, and the artifact and its attestation stay', async () => {
  const sent = await send({ attestations: [sbom({ artifact: 'bom.json' })] })
  const id = await uploadArtifact(api, caller, sent, 'bom.json', 'not a bill of materials')
  await drainQueue(api)
  const [upload] = await uploads()
  assert.equal(upload.status, 'failed')
  assert.ok(upload.error)
  const { attestations, artifacts } = await storedReport(api, caller, sent.report_id)
  assert.deepEqual(
    [artifacts.map((artifact) => [artifact.id, artifact.status]), attestations[0].status, attestations[0].parsed],
    [[[id, 'uploaded']], 'info', null],
  )
  assert.ok(await api.services.objects.stat(`artifacts/${caller.orgId}/${id}`))
})

test('a file whose reading failed is read when it is attested again', async () => {
  const sent = await send({ attestations: [sbom({ artifact: 'bom.json' })] })
  await uploadArtifact(api, caller, sent, 'bom.json', BOM)
  await drainQueue(api, 'security.read-upload')
  await expireUploadsJob.run(api.services, {})
  const [lost] = await uploads()
  assert.equal(lost.status, 'failed')
  assert.equal((await attestation(sent, 'image')).status, 'info')

  await postAttestations(api, caller, sent, [sbom({ artifact: 'bom.json' })])
  await drainQueue(api)
  const [read, ...more] = await uploads()
  assert.deepEqual([read.id, read.status, read.error, more.length], [lost.id, 'finished', null, 0])
  assert.equal((await attestation(sent, 'image')).status, 'pass')
})

test('an empty file is not read and fails no job', async () => {
  const sent = await send({ attestations: [scan({ artifact: 'empty.sarif' })] })
  await uploadArtifact(api, caller, sent, 'empty.sarif', '')
  await drainQueue(api)
  assert.deepEqual(await uploads(), [])
})

test("the plan's reports per run are read, the next one fails with the number, and another run has its own", async () => {
  caller = await api.caller({ plan: 'few' })
  for (const run of ['first', 'second']) {
    await newRun()
    const names = ['1.sarif', '2.sarif', '3.sarif']
    const sent = await send({ attestations: names.map((name) => scan({ artifact: name }, name)) })
    for (const name of names) await uploadArtifact(api, caller, sent, name, report(`${run}-${name}`))
    await drainQueue(api)
  }
  const statuses = (await uploads()).map(({ status, error }) => [status, error])
  const refused = statuses.filter(([status]) => status === 'failed')
  assert.deepEqual([statuses.length, refused.length], [6, 2])
  for (const [, error] of refused) assert.equal(error, 'The plan few allows 2 security reports per run.')
})

test("a report over the plan's largest, and a plan that reads none, fail the upload and keep the artifact", async () => {
  for (const [plan, reason] of [
    ['short', /100 bytes/],
    ['unread', /^The plan unread does not include security uploads\.$/],
  ] as const) {
    caller = await api.caller({ plan })
    await newRun()
    const sent = await send({ attestations: [scan({ artifact: 'a.sarif' })] })
    await uploadArtifact(api, caller, sent, 'a.sarif', report('a'))
    await drainQueue(api)
    const [row] = await api.services.sql<[Json]>`
      select status, error
      from security_uploads
      where org_id = ${caller.orgId}`
    assert.equal(row.status, 'failed')
    assert.match(row.error, reason)
    assert.equal((await storedReport(api, caller, sent.report_id)).artifacts[0].status, 'uploaded')
  }
})

test('the same job in the next run closes what it no longer finds, and reopens what came back', async () => {
  await reportScan(['a', 'b'])
  await newRun({ commit_sha: 'b'.repeat(40) })
  await reportScan(['b', 'c'])
  assert.deepEqual(await statesByRule(api, caller), { a: 'fixed', b: 'open', c: 'open' })
  await newRun()
  await reportScan(['a'])
  assert.deepEqual(await statesByRule(api, caller), { a: 'open', b: 'fixed', c: 'fixed' })
})

test("another job's, matrix's, report's, file's, pipeline's or branch's report closes nothing of this job", async () => {
  await reportScan(['a'])
  await reportScan(['b'], { job: { name: 'other' } })
  await reportScan(['c'], { job: { name: 'test', matrix: { os: 'linux' } } })
  await reportScan(['d'], { name: 'second' })
  const sent = await send({ attestations: [scan({ artifact: 'second.sarif' })], name: 'third' })
  await uploadArtifact(api, caller, sent, 'second.sarif', report('e'))
  await drainQueue(api)
  await newRun({ pipeline_name: 'nightly' })
  await reportScan(['f'])
  await newRun({ ref: 'dev' })
  await reportScan(['g'])
  assert.deepEqual(await countStates(api, caller), { open: 7 })
})

test('a repository that is connected later keeps its earlier findings, and the next run can close them', async () => {
  await reportScan(['a', 'b'])
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/api' })
  await newRun({ commit_sha: 'b'.repeat(40) })
  await reportScan(['b'])
  const findings = await listFindings(api, caller, { provider: 'github', repository_id: '1' })
  assert.deepEqual(Object.fromEntries(findings.map(({ rule_id, state }) => [rule_id, state])), {
    a: 'fixed',
    b: 'open',
  })
})

test('a repository of the same name on another host closes nothing', async () => {
  await reportScan(['a'])
  await newRun({ repository: 'gitlab.com/acme/api' })
  await reportScan(['b'])
  assert.deepEqual(await countStates(api, caller), { open: 2 })
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/api' })
  await link(api, caller, { provider: 'gitlab', id: '2', name: 'acme/api' })
  await newRun()
  await reportScan(['c'])
  await newRun({ repository: 'gitlab.com/acme/api' })
  await reportScan(['d'])
  const of = async (provider: string) => Object.keys(await statesByRule(api, caller, { provider }))
  assert.ok((await of('github')).includes('c') && !(await of('github')).includes('d'))
  assert.ok((await of('gitlab')).includes('d') && !(await of('gitlab')).includes('c'))
})

test('findings of a pull request are not tracked; nor are those of another branch than a linked repository tracks', async () => {
  const tracked = async (fields: Record<string, unknown>) => {
    await newRun(fields)
    await reportScan([`${fields.ref}`])
    const findings = await listFindings(api, caller)
    return findings.find(({ rule_id }) => rule_id === fields.ref)?.tracked
  }
  assert.equal(await tracked({ event: 'push', ref: 'any' }), true)
  assert.equal(await tracked({ event: 'pull_request', ref: 'request' }), false)
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/api', trackedBranch: 'main' })
  assert.equal(await tracked({ event: 'push', ref: 'main' }), true)
  assert.equal(await tracked({ event: 'push', ref: 'refs/heads/main' }), true)
  assert.equal(await tracked({ event: 'push', ref: 'feature' }), false)
  assert.equal(await tracked({ event: 'pull_request', ref: 'request-2' }), false)
})

test('from report over PUT and completion to findings, read by a real worker', { timeout: 60_000 }, async () => {
  const worker = await startWork(api.services, api.database)
  try {
    const sent = await send({ attestations: [scan({ artifact: 'a.sarif' })] })
    await uploadArtifact(api, caller, sent, 'a.sarif', report('a', 'b'))
    let found: Json[] = []
    for (let polls = 0; polls < POLLS_MAX && found.length === 0; polls += 1) found = await listFindings(api, caller)
    assert.equal(found.length, 2)
  } finally {
    await worker.close()
  }
})
