import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { assignPlan } from '../../../../src/access/manage-access.ts'
import type { HostSource } from '../../../../src/codehosts/host-event.ts'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import { removeExpired } from '../../../../src/retention/remove-expired.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { sendReport } from '../../../support/ci-reports.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { cycloneDx, deployOnHost, importRecords, type Part, sendSbom } from '../../../support/exposure-world.ts'
import { fakeCodeHost } from '../../../support/fake-client.ts'
import { listFindings } from '../../../support/findings.ts'
import { SBOM } from '../../../support/furnish.ts'
import { answer, configureGate, openGate } from '../../../support/gates.ts'
import { hostEnvironment } from '../../../support/host-deployments.ts'
import { insertConnection } from '../../../support/host-objects.ts'
import type { Json } from '../../../support/json.ts'
import { drainQueue } from '../../../support/queue.ts'
import { uploadReport } from '../../../support/reports.ts'
import { dismissAll } from '../../../support/triage.ts'

let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: fakeCodeHost({ readEnvironment: async () => hostEnvironment() }).codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  const { sql } = api.services
  await sql`
    truncate intel_advisories, intel_affected, intel_fixes, vulnerability_assertions, vulnerability_aliases`
  caller = await api.caller()
  source = await insertConnection(sql, caller.orgId)
})

const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string]
const LOG4J = 'pkg:maven/org.apache.logging.log4j/log4j-core'
const CVE = 'CVE-2021-44228'
const log4shell = (fields: object = {}) => ({
  ...{ id: 'GHSA-jfh8-c2jp-5v3q', modified: '2026-03-01T00:00:00Z', aliases: [CVE] },
  affected: [
    {
      package: { ecosystem: 'Maven', name: 'org.apache.logging.log4j:log4j-core' },
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '2.0-beta9' }, { fixed: '2.15.0' }] }],
    },
  ],
  ...fields,
})

let deployed = 0
async function deploy(commit: string, environment = 'production'): Promise<string> {
  deployed += 1
  const id = await deployOnHost(api, source, { id: String(1000 + deployed), commit, environment })
  api.clock.advance(60_000)
  return id
}
async function send(parts: Part[], commitSha: string | undefined, fields: Record<string, unknown> = {}) {
  const upload = await sendSbom(api, (fields.by as Caller) ?? caller, parts, {
    ...(commitSha && { commitSha }),
    ...fields,
    by: undefined,
  })
  api.clock.advance(60_000)
  return upload
}
const ask = (id = CVE, { key }: Pick<Caller, 'key'> = caller, query = '') =>
  api.request('GET', `/v1/exposure/${id}${query}`, { key })
async function expose(id = CVE, by?: Pick<Caller, 'key'>, query = ''): Promise<Json> {
  const { status, body } = await ask(id, by, query)
  assert.equal(status, 200, JSON.stringify(body))
  const { counts, affected, unknown, not_affected, complete } = body.data
  assert.equal(complete, true)
  assert.equal(counts.live_deployments, counts.affected + counts.not_affected + counts.unknown)
  assert.equal(counts.affected, new Set(affected.map((one: Json) => one.deployment_id)).size)
  assert.equal(counts.unknown, unknown.length)
  assert.equal(
    counts.not_affected,
    Object.values<number>(not_affected).reduce((sum, each) => sum + each, 0),
  )
  return body.data
}
const reasons = ({ unknown }: Json) => unknown.map(({ reason }: Json) => reason)

test('what runs is found by the commit that is deployed, with the fix, whatever arrives first', async () => {
  const early = await deploy(FIRST, 'staging')
  await send([`${LOG4J}@2.14.1`, 'pkg:npm/a@1.0.0'], FIRST)
  const late = await deploy(FIRST)
  assertError(await ask(), 404, 'unknown_vulnerability')
  await importRecords(api, log4shell())
  const data = await expose('cve-2021-44228')
  assert.deepEqual(
    data.affected.map((one: Json) => [
      one.deployment_id,
      one.component.purl,
      one.evidence,
      one.lane,
      one.fixed_version,
    ]),
    [late, early].map((id) => [id, `${LOG4J}@2.14.1`, 'commit', 'key', '2.15.0']),
  )
  assert.deepEqual(data.vulnerability.aliases, ['GHSA-jfh8-c2jp-5v3q'])
  assert.equal(data.vulnerability.canonical_id, CVE)
  assert.deepEqual(await expose('GHSA-JFH8-C2JP-5V3Q'), { ...data, as_of: (await expose()).as_of })
  assert.deepEqual([data.affected_not_live, data.unknown], [[], []])
  await drainQueue(api)
  const issues = (await api.request('GET', '/v1/security/issues', { key: caller.key })).body.data
  assert.deepEqual(
    (await expose()).affected.map((one: Json) => one.issue_id),
    [issues[0].id, issues[0].id],
  )
})

test('a deployment has what its own commit had, not what the branch has now', async () => {
  await importRecords(api, log4shell())
  await send([`${LOG4J}@2.14.1`, 'pkg:npm/a@1.0.0'], FIRST)
  await send([`${LOG4J}@2.17.0`, 'pkg:npm/a@1.0.0'], SECOND)
  await send([`${LOG4J}@2.14.0`, 'pkg:npm/b@1.0.0'], THIRD)
  const old = await deploy(FIRST)
  await deploy(SECOND, 'staging')
  const data = await expose()
  assert.deepEqual(
    data.affected.map((one: Json) => [one.deployment_id, one.component.version]),
    [[old, '2.14.1']],
  )
  assert.equal(data.not_affected.version, 1)
  assert.deepEqual(
    data.affected_not_live.map((one: Json) => [one.repository, one.component.version]),
    [['acme/shop', '2.14.0']],
  )
})

test('a component has its issue and its dismissal, although findings write the names of Maven otherwise', async () => {
  await importRecords(api, log4shell())
  await send([`${LOG4J}@2.14.1`], FIRST)
  await deploy(FIRST)
  await send([`${LOG4J}@2.14.1`], SECOND)
  const [finding] = await listFindings(api, caller)
  assert.ok(finding?.issue_id)
  const [affected] = (await expose()).affected
  assert.deepEqual([affected.issue_id, affected.status], [finding.issue_id, 'open'])
  await dismissAll(api, caller.orgId, { reason: 'false_positive' })
  assert.equal((await expose()).not_affected.false_positive, 1)
})

test('what is not known is unknown, and never not affected', async () => {
  await importRecords(api, log4shell())
  await deploy(FIRST)
  assert.deepEqual(reasons(await expose()), ['no_sbom'])
  await send(['pkg:maven/a/b@1'], SECOND)
  assert.deepEqual(reasons(await expose()), ['no_sbom'], 'the document came after the deployment began')
  await deploy(FIRST)
  assert.deepEqual(reasons(await expose()), ['sbom_older_than_deployment'])
  await send(['pkg:npm/a@1'], FIRST, { category: 'web' })
  assert.deepEqual(reasons(await expose()), ['type_not_covered'])
  await send([LOG4J], FIRST)
  assert.deepEqual(reasons(await expose()), ['unknown_version'])
  await send(['pkg:maven/a/b@1', { purl: 'pkg:maven/c/d@1', name: 7 } as unknown as Part], THIRD)
  await deploy(THIRD)
  assert.equal((await expose()).not_affected.not_present, 1)
  await send(['pkg:maven/a/b@9'], '9'.repeat(40))
  const { sql } = api.services
  await sql`delete from sbom_commits where org_id = ${caller.orgId} and commit_sha = ${'9'.repeat(40)}`
  await sql`update security_uploads set status = 'failed', error = 'broken' where org_id = ${caller.orgId} and commit_sha = ${'9'.repeat(40)}`
  await deploy('9'.repeat(40))
  assert.deepEqual(reasons(await expose()), ['unreadable_sbom'])
})

test('an inferred document shows what is affected', async () => {
  await importRecords(api, log4shell())
  await send([`${LOG4J}@2.14.1`], FIRST)
  await send([`${LOG4J}@2.17.0`], THIRD, { gitRef: 'feature', tracked: false })
  await deploy(SECOND)
  const { affected } = await expose()
  assert.deepEqual(
    affected.map(({ evidence }: Json) => evidence),
    ['inferred'],
  )
})

test('packages of a distribution are judged by its release: no_release, unsupported_ecosystem, and what is covered', async () => {
  const distribution = {
    id: 'DEBIAN-CVE-2021-44228',
    ...{ modified: '2026-03-01T00:00:00Z', upstream: [CVE] },
    affected: [
      {
        package: { ecosystem: 'Debian:12', name: 'apache-log4j2' },
        ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: '2.15.0-1' }] }],
      },
    ],
  }
  await importRecords(api, distribution)
  const deb = (version: string, distro = 'distro=debian-12.5') =>
    `pkg:deb/debian/liblog4j2-java@${version}?arch=all&upstream=apache-log4j2${distro && `&${distro}`}`
  await deploy(FIRST)
  const about = async (...parts: Part[]) => {
    await send(parts, FIRST)
    const data = await expose()
    return data.affected.length > 0 ? 'affected' : (reasons(data)[0] ?? 'not_affected')
  }
  assert.equal(await about(deb('2.14.1-1')), 'affected')
  assert.equal(await about(deb('2.17.0-1')), 'not_affected')
  assert.equal(await about(deb('2.14.1-1', '')), 'no_release')
  assert.equal(await about('pkg:rpm/opensuse/other@1?distro=opensuse-15'), 'unsupported_ecosystem')
  assert.equal(await about('pkg:maven/a/b@1'), 'type_not_covered')
  assert.equal(await about(deb('2.14.1-1'), 'pkg:maven/a/b@1'), 'affected')
})

test('excluded components count when asked for, patched ones never, and withdrawn advisories say so', async () => {
  await importRecords(api, log4shell())
  await deploy(FIRST)
  await send([{ purl: `${LOG4J}@2.14.1`, scope: 'excluded' }], FIRST)
  assert.equal((await expose()).not_affected.not_present, 1)
  assert.equal((await expose(CVE, caller, '?scope=all')).affected.length, 1)
  const patches = [{ type: 'backport', resolves: [{ type: 'security', id: 'cve-2021-44228' }] }]
  await send([{ purl: `${LOG4J}@2.14.1`, pedigree: { patches } }], FIRST)
  assert.equal((await expose()).not_affected.mitigated, 1)
  await send([`${LOG4J}@2.14.1`], FIRST)
  assert.equal((await expose()).counts.affected, 1)
  await importRecords(api, log4shell({ modified: '2026-03-02T00:00:00Z', withdrawn: '2026-03-02T00:00:00Z' }))
  assert.equal((await expose()).not_affected.withdrawn, 1)
})

/** As if somebody else had sent a document. */
const setLane = (upload: Json, lane: string) => api.services.sql`
  update inventory_streams set lane = ${lane} where org_id = ${caller.orgId} and upload_id = ${upload.id}`

test('a weaker sender adds what is affected and takes nothing away; untrusted ones are no evidence', async () => {
  await importRecords(api, log4shell())
  await deploy(FIRST)
  await setLane(await send([`${LOG4J}@2.14.1`], FIRST), 'verified')
  await send([`${LOG4J}@2.17.0`], FIRST)
  const lanes = async () => (await expose()).affected.map(({ lane }: Json) => lane)
  assert.deepEqual(await lanes(), ['verified'])

  await deploy(SECOND)
  await setLane(await send([`${LOG4J}@2.17.0`, 'pkg:npm/x@1'], SECOND, { category: 'a' }), 'verified')
  await send([`${LOG4J}@2.14.1`], SECOND, { category: 'b' })
  assert.deepEqual(await lanes(), ['key'])
})

test('untrusted documents are no evidence, and those of people alone show only what is affected', async () => {
  await importRecords(api, log4shell())
  await deploy(FIRST)
  await setLane(await send([`${LOG4J}@2.14.1`], FIRST, { category: 'a' }), 'untrusted')
  assert.deepEqual(reasons(await expose()), ['no_sbom'])
  await setLane(await send(['pkg:maven/a/b@7'], FIRST, { category: 'b' }), 'person')
  assert.deepEqual(reasons(await expose()), ['no_sbom'])
  await setLane(await send([`${LOG4J}@2.14.0`], FIRST, { category: 'c' }), 'person')
  assert.equal((await expose()).counts.affected, 1)
})

test('a vulnerability that no advisory has packages of is answered by what scanners reported', async () => {
  await uploadReport(api, caller, SBOM, { repository: 'acme/shop', gitRef: 'main' })
  await deploy(FIRST)
  const other = await api.caller()
  assertError(await ask('CVE-2026-1000', other), 404, 'unknown_vulnerability')
  const data = await expose('CVE-2026-1000')
  assert.equal(data.coverage, 'scanners_only')
  assert.deepEqual(
    data.affected.map(({ evidence, issue_id, status }: Json) => [evidence, typeof issue_id, status]),
    [['inferred', 'string', 'open']],
  )
  await importRecords(api, { id: 'CVE-2026-10002', modified: '2026-03-01T00:00:00Z', affected: [] })
  assert.deepEqual(reasons(await expose('CVE-2026-10002')), ['no_advisory'])
})

test('deployments of opened gates count by their address, and who approved them is shown with read:deployments only', async () => {
  await importRecords(api, log4shell())
  await configureGate(api, caller, { environment: '*' })
  const run = await createRun(api, caller, { repository: 'github.com/acme/other', commit_sha: FIRST })
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  await answer(api, caller, deployment_id, 'approve')
  await api.request('PATCH', `/v1/deployments/${deployment_id}`, { key: caller.key, body: { status: 'success' } })
  await send([`${LOG4J}@2.14.1`], FIRST, { repository: 'acme/other' })
  const [affected] = (await expose()).affected
  assert.deepEqual(
    [affected.deployment_id, affected.trust, affected.approvals.length],
    [deployment_id, 'self_reported', 1],
  )
  const reader = await api.caller({ orgId: caller.orgId, scopes: ['read:security'] })
  assert.equal((await expose(CVE, reader)).affected[0].approvals, null)
  const other = await api.caller({ orgId: caller.orgId, scopes: ['read:deployments'] })
  assert.equal((await ask(CVE, other)).status, 403)
})

test('what is evidence of a deployment that runs stays with its file, however old it is', async () => {
  await importRecords(api, log4shell())
  const { id } = await send([`${LOG4J}@2.14.1`, 'pkg:npm/a@1.0.0'], FIRST)
  const later = [await send([`${LOG4J}@2.17.0`], SECOND), await send(['pkg:npm/b@1.0.0'], THIRD)]
  const running = await deploy(FIRST)
  await assignPlan(api.services, caller.slug, 'team')
  api.clock.advance(400 * DAY_MS)
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  const { affected } = await expose()
  assert.deepEqual(
    affected.map((one: Json) => [one.deployment_id, one.component.version]),
    [[running, '2.14.1']],
  )
  const read = (upload: string) => api.request('GET', `/v1/sboms/${upload}/document`, { key: caller.key })
  assert.equal((await read(id)).status, 200)
  await deploy(THIRD)
  api.clock.advance(400 * DAY_MS)
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  const rows = await api.services.sql`select id from sboms where org_id = ${caller.orgId}`
  assert.deepEqual(
    rows.map((row) => row.id),
    [later[1].id],
    'only the newest stays when the first is replaced',
  )
})

test('a document of a tool that others have replaced is evidence of its commit still', async () => {
  await importRecords(api, log4shell())
  await send([`${LOG4J}@2.14.1`], FIRST)
  const id = await deploy(FIRST)
  await api.services.sql`update inventory_streams set ended_at = ${api.clock.now()} where org_id = ${caller.orgId}`
  const { affected, affected_not_live } = await expose()
  assert.deepEqual(
    affected.map((one: Json) => [one.deployment_id, one.evidence]),
    [[id, 'commit']],
  )
  assert.deepEqual(affected_not_live, [])
})

const image = (name: string, digit: string) => ({ name: `ghcr.io/acme/${name}`, sha256: digit.repeat(64) })
/** A document about an image, by its digest. */
const about = ({ name, sha256 }: { name: string; sha256: string }) => ({
  metadata: {
    component: { 'bom-ref': 'root', type: 'container', name, version: `sha256:${sha256}` },
    tools: [{ name: 'syft' }],
  },
})
/** A run of a key that reports images, and a deployment of some of them that has succeeded. */
async function deployImages(reported: object[], deployedImages?: object[]): Promise<string> {
  await configureGate(api, caller, { environment: '*' })
  const run = await createRun(api, caller, { repository: 'github.com/acme/shop', commit_sha: FIRST })
  await sendReport(api, caller, run.id, { subjects: reported })
  const subjects = deployedImages === undefined ? {} : { subjects: deployedImages }
  const gate = await openGate(api, caller, { run_id: run.id, environment: 'eu', ...subjects })
  await answer(api, caller, gate.deployment_id, 'approve')
  const path = `/v1/deployments/${gate.deployment_id}`
  const marked = await api.request('PATCH', path, { key: caller.key, body: { status: 'success' } })
  assert.equal(marked.status, 200, marked.text)
  return gate.deployment_id
}

test('documents about the digest of a subject decide, and those of the commit about what none names', async () => {
  await importRecords(api, log4shell())
  const [web, worker] = [image('web', 'a'), image('worker', 'b')]
  const id = await deployImages([web, worker])
  await uploadReport(api, caller, cycloneDx([`${LOG4J}@2.14.1`], about(web)), { repository: 'acme/shop' })
  const first = await expose()
  assert.deepEqual(
    first.affected.map((one: Json) => [one.deployment_id, one.evidence, one.subjects.length]),
    [[id, 'digest', 2]],
  )
  api.clock.advance(60_000)
  await uploadReport(api, caller, cycloneDx([`${LOG4J}@2.17.0`], about(web)), { repository: 'acme/shop' })
  const second = await expose()
  assert.deepEqual([reasons(second), second.unknown[0].subjects], [['no_sbom'], [worker]])
  await uploadReport(api, caller, cycloneDx([`${LOG4J}@2.17.1`], about(worker)), { repository: 'acme/shop' })
  assert.equal((await expose()).not_affected.version, 1)
})

test('the manifest of a platform speaks of its index, and only what the gate names is deployed', async () => {
  await importRecords(api, log4shell())
  const manifest = { sha256: 'd'.repeat(64), platform: 'linux/amd64' }
  const index = { ...image('web', 'c'), platforms: [manifest] }
  const other = image('tool', 'e')
  const id = await deployImages([index, other], [index])
  await uploadReport(api, caller, cycloneDx([`${LOG4J}@2.14.1`], about({ name: 'web', sha256: manifest.sha256 })), {
    repository: 'acme/shop',
  })
  assert.deepEqual(
    (await expose()).affected.map((one: Json) => [one.deployment_id, one.evidence, one.subjects[0].sha256]),
    [[id, 'digest', index.sha256]],
  )
})

test('a clean document about a digest by a key does not displace what a verified job said of the commit', async () => {
  await importRecords(api, log4shell())
  const web = image('web', 'f')
  const id = await deployImages([web])
  await send([`${LOG4J}@2.14.1`], FIRST)
  await api.services.sql`update inventory_streams set lane = 'verified' where org_id = ${caller.orgId}`
  await uploadReport(api, caller, cycloneDx([`${LOG4J}@2.17.0`], about(web)), { repository: 'acme/shop' })
  const { affected } = await expose()
  assert.deepEqual(
    affected.map((one: Json) => [one.deployment_id, one.evidence, one.lane]),
    [[id, 'commit', 'verified']],
  )
})
