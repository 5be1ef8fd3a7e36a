import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { reconcileMatches } from '../../../src/security/matches/reconcile-matches.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, clearIntel, importRecords, LOG4J, listMatches, sendSbom } from '../../support/inventory.ts'
import { bom, listIssues, onlyIssue } from '../../support/issues.ts'
import type { Json } from '../../support/json.ts'
import { uploadReport } from '../../support/reports.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  await clearIntel(api.services)
})

const send = (...args: [parts: Parameters<typeof sendSbom>[2], options?: Parameters<typeof sendSbom>[3]]) =>
  sendSbom(api, caller, ...args)
const matches = () => listMatches(api, caller)
const states = async () =>
  (await matches()).map(({ package_version, vuln_ids, state, category_reason }: Json) => [
    package_version,
    vuln_ids[0],
    state,
    category_reason,
  ])
const LOG4SHELL = { ecosystem: 'Maven', name: 'org.apache.logging.log4j:log4j-core', fixed: '2.15.0' }
const SEVERE = { severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' }] }

test('a component that an advisory says is affected is a finding of its document', async () => {
  await importRecords(
    api.services,
    advisory('GHSA-jfh8-c2jp-5v3q', LOG4SHELL, { aliases: ['CVE-2021-44228'], ...SEVERE }),
  )
  const upload = await send([{ purl: `${LOG4J}@2.14.1`, path: 'pom.xml' }, 'pkg:npm/left-pad@1.0.0'])
  assert.deepEqual(upload.counts.matches, { opened: 1, closed: 0 })
  assert.deepEqual([upload.counts.findings, upload.counts.newIssues], [0, 0])
  const [found, ...others] = await matches()
  assert.equal(others.length, 0)
  const { origin, source, scanner, kind, type, severity, state, tracked, preview, category_reason } = found
  assert.deepEqual(
    { origin, source, scanner, kind, type, severity, state, tracked, preview, category_reason },
    {
      ...{ origin: 'inventory', source: 'osv', scanner: 'shiplock', kind: 'dependency', type: null },
      ...{ severity: 'critical', state: 'open', tracked: true, preview: false, category_reason: null },
    },
  )
  assert.deepEqual(
    [found.package_name, found.package_version, found.purl, found.fixed_version, found.location.path],
    ['org.apache.logging.log4j/log4j-core', '2.14.1', `${LOG4J}@2.14.1`, '2.15.0', 'pom.xml'],
  )
  assert.deepEqual(found.vuln_ids, ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'])
  assert.equal(found.intel_at_detection.fix_available, true)
  const issue = await onlyIssue(api, caller)
  assert.deepEqual([issue.severity, issue.status], ['critical', 'open'])
})

test('a match is in the issue of what scanners report of the same package and vulnerability', async () => {
  await importRecords(api.services, advisory('GHSA-1', LOG4SHELL, { aliases: ['CVE-2021-44228'] }))
  await send([`${LOG4J}@2.14.1`])
  await uploadReport(api, caller, bom('grype', `${LOG4J}@2.14.1`, [{ id: 'CVE-2021-44228' }]))
  const issue = await onlyIssue(api, caller)
  assert.equal(issue.member_count, 2)
})

test('what ends says why, and only what was removed or replaced is a fix', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}), advisory('GHSA-2', { name: 'moment' }))
  await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/moment@1.0.0'])
  const upload = await send(['pkg:npm/lodash@2.0.0', 'pkg:npm/left-pad@1.0.0'])
  assert.deepEqual(upload.counts.matches, { opened: 0, closed: 2 })
  assert.deepEqual((await states()).sort(), [
    ['1.0.0', 'GHSA-1', 'fixed', 'version_changed'],
    ['1.0.0', 'GHSA-2', 'fixed', 'component_removed'],
  ])
  assert.deepEqual(
    (await listIssues(api, caller)).map(({ status }) => status),
    ['fixed', 'fixed'],
  )
})

test('a version that is affected, too, goes on as the same finding, and two versions are two', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}))
  await send(['pkg:npm/lodash@1.0.0'])
  const [first] = await matches()
  await send(['pkg:npm/lodash@1.1.0'])
  const [second, ...others] = await matches()
  assert.deepEqual([second.id, second.package_version, others.length], [first.id, '1.1.0', 0])
  const both = await send(['pkg:npm/lodash@1.1.0', 'pkg:npm/lodash@1.2.0'])
  assert.deepEqual(both.counts.matches, { opened: 1, closed: 0 })
  assert.deepEqual(await states(), [
    ['1.1.0', 'GHSA-1', 'open', null],
    ['1.2.0', 'GHSA-1', 'open', null],
  ])
  assert.equal((await matches())[0]?.id, first.id)
  assert.equal((await listIssues(api, caller)).length, 1)
})

test('a component that comes back opens its finding again', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}))
  await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/a@1.0.0'])
  const [first] = await matches()
  await send(['pkg:npm/a@1.0.0'])
  assert.deepEqual(await states(), [['1.0.0', 'GHSA-1', 'fixed', 'component_removed']])
  await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/a@1.0.0'])
  const [again, ...others] = await matches()
  assert.deepEqual([again.id, again.state, again.category_reason, others.length], [first.id, 'open', null, 0])
})

test('a report of a tool of the same name is another stream, and closes no match', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}))
  await send(['pkg:npm/lodash@1.0.0'])
  await uploadReport(api, caller, bom('Shiplock', 'pkg:npm/lodash@1.0.0', [{ id: 'GHSA-9' }]))
  await uploadReport(api, caller, bom('Shiplock', 'pkg:npm/lodash@1.0.0', []))
  assert.ok((await matches()).some(({ state, vuln_ids }) => state === 'open' && vuln_ids[0] === 'GHSA-1'))
  const { body } = await api.request('GET', '/v1/security/streams', { key: caller.key })
  assert.ok(body.data.every(({ format }: Json) => format === 'cyclonedx'))
})

test('a stream of matches can be neither ended nor taken over', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}))
  await send(['pkg:npm/lodash@1.0.0'])
  const [{ id }] = await api.services.sql<[{ id: number }]>`
    select id from finding_streams where org_id = ${caller.orgId} and origin = 'inventory'`
  const { status } = await api.request('POST', `/v1/security/streams/${id}/end`, {
    key: caller.key,
    body: { reason: 'x' },
  })
  assert.equal(status, 404)
  assert.deepEqual(await states(), [['1.0.0', 'GHSA-1', 'open', null]])
})

test('a match of several tools ends with the last, and a tool that another one replaced ends by itself', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}), advisory('GHSA-2', { name: 'moment' }))
  await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/moment@1.0.0'], { tool: 'syft' })
  const first = await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/a@1.0.0'], { tool: 'trivy' })
  assert.deepEqual(first.counts.matches, { opened: 0, closed: 0 })
  api.clock.advance(8 * 24 * 3_600_000)
  for (const version of ['2', '3', '4'])
    await send(['pkg:npm/lodash@1.0.0', `pkg:npm/a@${version}.0.0`], { tool: 'trivy' })
  assert.deepEqual(
    (await states()).map(([, , state]: Json) => state),
    ['open', 'open'],
  )
  const last = await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/a@5.0.0'], { tool: 'trivy' })
  assert.deepEqual(last.counts.matches, { opened: 0, closed: 1 })
  assert.deepEqual(
    (await states()).filter(([, , state]: Json) => state === 'fixed'),
    [['1.0.0', 'GHSA-2', 'fixed', 'stream_ended']],
  )
  const { body } = await api.request('GET', '/v1/components?package=moment', { key: caller.key })
  assert.deepEqual(body.data, [])
  // The same file again is no new document of the tool: another one is.
  const back = await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/moment@1.0.0', 'pkg:npm/b@1.0.0'], { tool: 'syft' })
  assert.deepEqual(back.counts.matches, { opened: 1, closed: 0 })
})

test('senders have matches of their own: none closes those of another, and untrusted ones track none', async () => {
  const { sql } = api.services
  await importRecords(api.services, advisory('GHSA-1', {}))
  await send(['pkg:npm/lodash@1.0.0'])
  // The same document of an untrusted job.
  const [stream] = await sql<[{ repository_no: number }]>`
    insert into inventory_streams (
      org_id, repository_no, tool, format, lane, tracked, upload_id, reported_at, seen_at, present, parents, since
    )
    select org_id, repository_no, tool, format, 'untrusted', true, upload_id, reported_at, seen_at, present, parents, since
    from inventory_streams
    where org_id = ${caller.orgId}
    returning repository_no`
  api.clock.advance(1000)
  const scope = { org_id: caller.orgId, ...stream, category: null, git_ref: null, subject: null }
  await sql.begin((tx) => reconcileMatches(api.services, tx, { ...scope, lane: 'untrusted' }, null))
  assert.deepEqual((await matches()).map(({ tracked }) => tracked).sort(), [false, true])
  await send(['pkg:npm/left-pad@1.0.0'])
  assert.deepEqual(
    (await matches()).map(({ state, tracked }) => [state, tracked]),
    [
      ['fixed', true],
      ['open', false],
    ],
  )
  assert.equal((await onlyIssue(api, caller)).status, 'fixed')
})

test('a patch that the document states dismisses its finding, and without it the finding is open', async () => {
  await importRecords(api.services, advisory('GHSA-1', {}))
  const patches = [{ type: 'backport', resolves: [{ type: 'security', id: 'ghsa-1' }] }]
  await send([{ purl: 'pkg:npm/lodash@1.0.0', pedigree: { patches } }])
  const [patched] = await matches()
  assert.deepEqual(
    [patched.state, patched.dismiss_reason, patched.dismissal_source],
    ['dismissed', 'patched', 'report'],
  )
  await send(['pkg:npm/lodash@1.0.0'])
  const [open, ...others] = await matches()
  assert.deepEqual([open.id, open.state, open.dismiss_reason, others.length], [patched.id, 'open', null, 0])
})

test('malicious packages are critical, what is only informational is info, and a release is that of the document', async () => {
  await importRecords(
    api.services,
    advisory('MAL-2024-1', { name: 'evil', fixed: null }),
    {
      ...advisory('RUSTSEC-2024-1', { ecosystem: 'crates.io', name: 'old', fixed: null }),
      affected: [
        {
          package: { ecosystem: 'crates.io', name: 'old' },
          ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }] }],
          database_specific: { informational: 'unmaintained' },
        },
      ],
    },
    advisory(
      'DEBIAN-CVE-2024-9',
      { ecosystem: 'Debian:12', name: 'openssl', fixed: '3.0.2' },
      { upstream: ['CVE-2024-9'] },
    ),
  )
  const system = { purl: 'pkg:generic/debian@12', type: 'operating-system', name: 'debian', version: '12' }
  await send([
    'pkg:npm/evil@1.0.0',
    'pkg:cargo/old@1.0.0',
    system,
    'pkg:deb/debian/libssl3@3.0.1?upstream=openssl',
    'pkg:deb/debian/libssl3@3.0.1?upstream=openssl&distro=debian-11',
  ])
  assert.deepEqual((await matches()).map(({ package_name, type, severity }) => [package_name, type, severity]).sort(), [
    ['evil', 'malicious-package', 'critical'],
    ['libssl3', null, 'medium'],
    ['old', 'unmaintained', 'info'],
  ])
})
