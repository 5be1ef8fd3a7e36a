// No second chance: who may dismiss findings.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { after, before, beforeEach, test } from 'node:test'
import { followRules } from '../../../../../src/security/issues/follow-changes.job.ts'
import { enqueueStoredDocuments } from '../../../../../src/security/uploads/stored-documents.ts'
import { getReportKey } from '../../../../../src/security/uploads/upload-file.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import { listIssues } from '../../../../support/issues.ts'
import type { Json } from '../../../../support/json.ts'
import { clearJobs, drainQueue, listJobs } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { vulnerable } from '../../../../support/vex.ts'

let api: TestApi
let caller: Caller
let triager: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller({ scopes: ['read:security', 'write:security-findings'] })
  triager = await api.caller({
    orgId: caller.orgId,
    scopes: ['read:security', 'write:security-findings', 'write:triage'],
  })
})

const LODASH = 'pkg:npm/lodash@4.17.20'
const ID = 'CVE-2021-23337'
const SERIAL = 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79'

type Analysis = { state?: string; [member: string]: unknown }
/** A document as Dependency-Track exports it: the analyses of a project, without its components. */
function vex(analyses: [id: string, ref: string, analysis: Analysis | null][], given: Json = {}) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: SERIAL,
    version: 1,
    metadata: {
      timestamp: '2026-01-01T00:00:00Z',
      tools: [{ vendor: 'OWASP', name: 'Dependency-Track', version: '4.12.0' }],
      component: { type: 'application', 'bom-ref': 'project', name: 'app' },
    },
    vulnerabilities: analyses.map(([id, ref, analysis]) => ({
      id,
      affects: [{ ref }],
      ...(analysis === null ? {} : { analysis }),
    })),
    ...given,
  }
}
const UNREACHABLE = { state: 'not_affected', justification: 'code_not_reachable', detail: 'Not used.' }

async function upload(file: object, by: Caller = triager, fields: Json = {}): Promise<Json> {
  api.clock.advance(60_000)
  const sent = await uploadReport(api, by, file, fields)
  assert.equal(sent.status, 'finished', sent.error)
  return sent
}
const states = async () =>
  (await listFindings(api, caller)).map(({ scanner, rule_id, state }) => `${scanner} ${rule_id} ${state}`).sort()

test('a document of Dependency-Track dismisses the finding of a scanner (F19)', async () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(new URL(`../../../../fixtures/cases/${file}.json`, import.meta.url), 'utf8'))
  await upload(read('F19-1'))
  const { counts, format } = await upload(read('F19-2'))
  assert.deepEqual([format, counts.findings, counts.created, counts.updated], ['cyclonedx', 0, 0, 1])
  const [finding, ...others] = await listFindings(api, caller)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [finding.state, finding.dismissal_source, finding.dismiss_reason, finding.dismiss_comment],
    ['dismissed', 'cyclonedx', 'code_not_reachable', 'not used'],
  )
})

test('a document by a sender that may not triage is a proposal, also if the sender says that it is CycloneDX', async () => {
  await upload(vulnerable({ [LODASH]: ID }), caller)
  const { id, warnings } = await upload(vex([[ID, LODASH, UNREACHABLE]]), caller, { format: 'cyclonedx' })
  assert.match(warnings.join(' '), /is a proposal/)
  assert.deepEqual(await states(), [`grype ${ID} open`])
  const confirmed = await api.request('POST', `/v1/security/uploads/${id}/confirm`, { key: triager.key })
  assert.equal(confirmed.status, 200, confirmed.text)
  assert.deepEqual(await states(), [`grype ${ID} dismissed`])
})

test('the states of an analysis', async () => {
  const ids = ['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree', 'exploitable', 'in_triage']
  const named = ids.map((state, at) => [`CVE-2024-100${at}`, state] as const)
  await upload(vulnerable({ [LODASH]: named.map(([id]) => id) }))
  await upload(vex(named.map(([id, state]) => [id, LODASH, { state }])))
  assert.deepEqual(
    (await listFindings(api, caller)).map(({ rule_id, dismiss_reason }) => [rule_id, dismiss_reason]).sort(),
    named.map(([id, state]) => [id, { ...REASONS, [state]: (REASONS as Json)[state] ?? null }[state]]),
  )
})
const REASONS = {
  not_affected: 'not_affected',
  false_positive: 'false_positive',
  resolved: 'fixed',
  resolved_with_pedigree: 'fixed',
}

test('a document with a component, or with a vulnerability without analysis, is a report', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203'] }))
  const partly = await upload(
    vex([
      [ID, LODASH, UNREACHABLE],
      ['CVE-2020-8203', LODASH, null],
    ]),
  )
  assert.equal(partly.counts.findings, 2)
  const components = [{ type: 'library', name: 'lodash', purl: LODASH, 'bom-ref': LODASH }]
  assert.equal((await upload(vex([[ID, LODASH, UNREACHABLE]], { components }))).counts.findings, 1)
  assert.ok((await states()).includes(`grype ${ID} open`))
  assert.ok((await states()).includes('grype CVE-2020-8203 open'))
})

test('an analysis without a known state is skipped, and nothing is dismissed by what cannot be identified', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203', 'CVE-2020-28500'] }))
  const { warnings } = await upload(
    vex([
      [ID, LODASH, { detail: 'Not used.' }],
      ['CVE-2020-8203', 'b3b6b8d0-0000-4000-8000-000000000000', UNREACHABLE],
      ['CVE-2020-28500', 'project', UNREACHABLE],
    ]),
  )
  assert.match(warnings.join(' '), /Vulnerability 1 has no known `analysis.state`; it was skipped/)
  assert.equal(
    (await states()).every((state) => state.endsWith('open')),
    true,
  )
})

test('a reference to the subject is about the repository, an image or a project: never further', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const about = (component: Json) =>
    vex([[ID, 'project', UNREACHABLE]], { metadata: { component: { 'bom-ref': 'project', ...component } } })
  for (const component of [
    { type: 'container', name: 'acme/app' },
    { type: 'application', name: 'other', purl: 'pkg:github/acme/other@1.0' },
    { type: 'application', name: 'lodash' },
  ]) {
    await upload(about(component))
    assert.deepEqual(await states(), [`grype ${ID} open`], JSON.stringify(component))
  }
  await upload(about({ type: 'application', name: 'app', purl: 'pkg:github/acme/app' }))
  assert.deepEqual(await states(), [`grype ${ID} dismissed`])
})

test('references into another document, and listed versions', async () => {
  await upload(vulnerable({ [LODASH]: ID, 'pkg:npm/lodash@4.17.21': ID }))
  const link = `urn:cdx:${SERIAL.slice('urn:uuid:'.length)}/1#pkg%3Anpm%2Flodash%404.17.21`
  await upload(vex([[ID, link, UNREACHABLE]]))
  const byVersion = async () =>
    Object.fromEntries((await listFindings(api, caller)).map((finding) => [finding.package_version, finding.state]))
  assert.deepEqual(await byVersion(), { '4.17.20': 'open', '4.17.21': 'dismissed' })
  const vulnerabilities = [
    {
      id: ID,
      analysis: UNREACHABLE,
      affects: [{ ref: 'pkg:npm/lodash', versions: [{ version: '4.17.20' }, { range: 'vers:npm/>=1' }] }],
    },
  ]
  await upload(vex([], { vulnerabilities }), triager, { category: 'versions' })
  assert.deepEqual(await byVersion(), { '4.17.20': 'dismissed', '4.17.21': 'dismissed' })
})

test('the next export of a project replaces the one before, whatever its serial number', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203'] }))
  await upload(vex([[ID, LODASH, UNREACHABLE]]))
  const next = { serialNumber: 'urn:uuid:00000000-0000-4000-8000-000000000001' }
  await upload(vex([['CVE-2020-8203', LODASH, UNREACHABLE]], next))
  assert.deepEqual(await states(), ['grype CVE-2020-8203 dismissed', `grype ${ID} open`])
})

test('what an earlier version read as findings in such a document ends, once, whatever interrupts (M7)', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203'] }))
  const document = vex([
    [ID, LODASH, UNREACHABLE],
    ['CVE-2020-8203', LODASH, { state: 'exploitable' }],
  ])
  // As a report with components; then the document takes the place of the stored file.
  const components = [{ type: 'library', name: 'lodash', purl: LODASH, 'bom-ref': LODASH }]
  const { id } = await upload({ ...document, components })
  await api.services.sql`update security_uploads set components = 0 where org_id = ${caller.orgId} and id = ${id}`
  const bytes = Buffer.from(JSON.stringify(document))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const expected = { sizeBytes: bytes.length, sha256, contentType: 'application/json' }
  await api.services.objects.write(getReportKey(caller.orgId, id), expected, Readable.from([bytes]))
  assert.equal((await listFindings(api, caller)).length, 4)
  await clearJobs(api.services.sql)
  const again = api.services.sql`
    insert into issue_rule_changes (org_id)
    values (${caller.orgId})
    on conflict do nothing`
  await again
  const stopping = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(followRules.run(api.services, {}, stopping), /stopped/)
  api.clock.advance(3 * 60_000)
  await Promise.all([1, 2].map(() => followRules.run(api.services, {})))
  const { sql } = api.services
  assert.notEqual((await listJobs(sql, 'event security.rules.followed')).length, 0)
  await Promise.all([1, 2].map(() => enqueueStoredDocuments(api.services, { org_id: caller.orgId })))
  assert.equal((await listJobs(sql, 'security.read-upload')).length, 1)
  await drainQueue(api)
  assert.deepEqual(await states(), [
    'Dependency-Track CVE-2020-8203 fixed',
    `Dependency-Track ${ID} fixed`,
    'grype CVE-2020-8203 open',
    `grype ${ID} dismissed`,
  ])
  assert.equal((await listIssues(api, caller, { status: 'open' })).length, 1)
})
