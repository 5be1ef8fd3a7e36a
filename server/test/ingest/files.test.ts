import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { attemptInput, postAttestations, scan, storedReport } from '../support/ci-reports.ts'
import { statesByRule } from '../support/findings.ts'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import type { Json } from '../support/json.ts'
import { drainQueue } from '../support/queue.ts'
import { sarif, scoredResult } from '../support/sarif.ts'

let server: IngestServer
let runs = 0
let runId: string

before(async () => {
  server = await startIngestServer()
})
after(() => server?.close())
beforeEach(() => {
  runs += 1
  runId = `${5000 + runs}`
})

const BOM = JSON.stringify({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  components: [{ type: 'library', name: 'left-pad', version: '1.0.0', purl: 'pkg:npm/left-pad@1.0.0' }],
})
const FOUND = JSON.stringify(sarif([scoredResult('a', 5), scoredResult('b', 5), scoredResult('c', 1)]))
const COUNTS = { critical: 0, high: 0, medium: 2, low: 1 }

/** Sends a report of one attestation with its file. Returns the id of the report. */
async function send(attestation: Json, content: string | Buffer, path = attestation.data.artifact): Promise<string> {
  const client = server.client({ claims: { run_id: runId } })
  const { report, results } = await client.send({ attestations: [attestation] }, { [path]: content })
  assert.equal(report.status, 200, report.text)
  assert.ok(results.every(({ status }) => status === 'uploaded'))
  return report.body.reportId
}

async function attestationOf(reportId: string): Promise<Json> {
  const { attestations } = await storedReport(server.api, server.caller, reportId)
  return attestations[0]
}

/** The attestation of a report as policies see it. */
async function evidenceOf(reportId: string): Promise<Json> {
  const { sql, clock } = server.api.services
  const [row] = await sql<[{ run_id: string }]>`
    select run_id
    from ci_reports
    where org_id = ${server.caller.orgId}
      and id = ${reportId}`
  const key = { org_id: server.caller.orgId, run_id: row.run_id, attempt: 1 }
  const evidence = await attemptInput(sql, key, clock.now())
  return evidence.attestations[0]
}

const SCANS: [data: Json, status: string][] = [
  [{ artifact: 'a.sarif', format: 'sarif' }, 'pass'],
  [{ artifact: 'a.sarif', failOn: 'medium' }, 'fail'],
  [{ artifact: 'a.sarif', tool: 'semgrep', failOn: 'low', format: null, critical: null }, 'fail'],
]

for (const [data, status] of SCANS) {
  test(`a scan ${JSON.stringify(data)} is info until its file is read, and then ${status} with its counts`, async () => {
    const reportId = await send({ kind: 'scan', name: 'code', data }, FOUND)
    assert.equal((await attestationOf(reportId)).status, 'info')
    await drainQueue(server.api)
    const stored = await attestationOf(reportId)
    assert.deepEqual([stored.status, stored.parsed.openBySeverity], [status, COUNTS])
    assert.ok(!('critical' in stored.data), 'the data is stored as sent')
    const { data: seen } = await evidenceOf(reportId)
    assert.deepEqual({ ...seen, ...COUNTS }, seen)
  })
}

test('the findings of a file belong to the report of the job', async () => {
  await send({ kind: 'scan', name: 'code', data: { artifact: 'a.sarif' } }, FOUND)
  await drainQueue(server.api)
  assert.deepEqual(await statesByRule(server.api, server.caller), { a: 'open', b: 'open', c: 'open' })
})

test('counts that are sent stay, and those of the file are not mixed into them', async () => {
  const reportId = await send(scan({ artifact: 'a.sarif', failOn: 'low' }), FOUND)
  await drainQueue(server.api)
  assert.equal((await attestationOf(reportId)).status, 'pass')
  assert.equal((await evidenceOf(reportId)).data.medium, 0)
})

test('an SBOM without figures gets its format and its number of components from its file', async () => {
  const reportId = await send({ kind: 'sbom', name: 'image', data: { artifact: 'bom.json' } }, BOM)
  assert.equal((await attestationOf(reportId)).status, 'info')
  await drainQueue(server.api)
  assert.equal((await attestationOf(reportId)).status, 'pass')
  assert.deepEqual((await evidenceOf(reportId)).data, { artifact: 'bom.json', format: 'cyclonedx', components: 1 })
})

for (const format of ['grype-json', 'trivy-json', 'other']) {
  test(`a file with the format ${format} is stored and not read`, async () => {
    const reportId = await send({ kind: 'scan', name: 'image', data: { artifact: 'scan.json', format } }, FOUND)
    await drainQueue(server.api)
    const { status, parsed } = await attestationOf(reportId)
    assert.deepEqual([status, parsed], ['info', null])
  })
}

test('a file that cannot be read leaves the scan info', async () => {
  const reportId = await send({ kind: 'scan', name: 'code', data: { artifact: 'a.sarif' } }, 'not a report')
  await drainQueue(server.api)
  const { status, parsed } = await attestationOf(reportId)
  assert.deepEqual([status, parsed], ['info', null])
})

test('the same report again keeps what was read; another failOn derives the status again', async () => {
  const data = { artifact: 'a.sarif' }
  const reportId = await send({ kind: 'scan', name: 'code', data }, FOUND)
  await drainQueue(server.api)
  await send({ kind: 'scan', name: 'code', data }, FOUND)
  assert.equal((await attestationOf(reportId)).status, 'pass')
  await send({ kind: 'scan', name: 'code', data: { ...data, failOn: 'medium' } }, FOUND)
  assert.equal((await attestationOf(reportId)).status, 'fail')
})

test('another file at the path makes the scan info until it is read', async () => {
  const attestation = { kind: 'scan', name: 'code', data: { artifact: 'a.sarif', failOn: 'low' } }
  const reportId = await send(attestation, FOUND)
  await drainQueue(server.api)
  assert.equal((await attestationOf(reportId)).status, 'fail')
  // Reports of one commit add up for an hour.
  server.api.clock.advance(61 * 60_000)
  await send(attestation, JSON.stringify(sarif([])))
  assert.equal((await attestationOf(reportId)).status, 'info')
  await drainQueue(server.api)
  assert.equal((await attestationOf(reportId)).status, 'pass')
})

const OWNERSHIP: [format: string, content: string | Buffer, status: string, parsed: Json][] = [
  ['codeowners', '* @acme/all\n/docs/ @acme/docs\n', 'pass', { rules: 2, error: null }],
  ['json', '{"rules":[{"pattern":"*","owners":["@acme/all"]}]}', 'pass', { rules: 1, error: null }],
  ['codeowners', '# nothing\n', 'warn', { rules: 0, error: null }],
  ['codeowners', '', 'warn', { rules: 0, error: null }],
  ['json', 'not JSON', 'fail', { rules: 0, error: 'The file is not JSON with a list of rules.' }],
  ['codeowners', '* @a\n'.repeat(5001), 'fail', { rules: 0, error: 'The file has more than 5000 rules.' }],
  ['codeowners', '#'.repeat(300_000), 'fail', { rules: 0, error: 'The file is larger than 262144 bytes.' }],
]

for (const [format, content, status, parsed] of OWNERSHIP) {
  test(`an ownership file in the format ${format} of ${content.length} bytes is ${status} when it was read`, async () => {
    const attestation = { kind: 'ownership', name: 'owners', data: { format, artifact: 'OWNERS' } }
    const reportId = await send(attestation, content)
    assert.equal((await attestationOf(reportId)).status, 'info')
    await drainQueue(server.api)
    const stored = await attestationOf(reportId)
    assert.deepEqual([stored.status, stored.parsed], [status, { format, ...parsed }])
  })
}

test('a file that an ownership and a scan attestation name is read for both', async () => {
  const attestations = [
    { kind: 'ownership', name: 'owners', data: { format: 'json', artifact: 'both.json' } },
    { kind: 'scan', name: 'code', data: { artifact: 'both.json' } },
  ]
  const client = server.client({ claims: { run_id: runId } })
  const { report } = await client.send({ attestations }, { 'both.json': FOUND })
  await drainQueue(server.api)
  const stored = await storedReport(server.api, server.caller, report.body.reportId)
  assert.deepEqual(
    stored.attestations.map(({ status }) => status),
    ['fail', 'pass'],
  )
})

test('the API refuses ownership and provenance also for a report of the ingest routes', async () => {
  const reportId = await send({ kind: 'provenance', name: 'x', data: {} }, 'x', 'x')
  const [row] = await server.api.services.sql<[{ run_id: string }]>`
    select run_id
    from ci_reports
    where org_id = ${server.caller.orgId}
      and id = ${reportId}`
  const report = { run_id: row.run_id, report_id: reportId }
  for (const kind of ['ownership', 'provenance']) {
    const answer = await postAttestations(server.api, server.caller, report, [{ kind, name: 'x', data: {} }])
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'kind_not_allowed'])
  }
})
