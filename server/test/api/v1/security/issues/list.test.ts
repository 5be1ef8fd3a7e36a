import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Issue } from '../../../../../src/security/issues/issue.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { bom, listIssues, onlyIssue, packageResult } from '../../../../support/issues.ts'
import { storeResults, testListContract } from '../../../../support/list-contract.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { sarif, sarifResult, scoredResult } from '../../../../support/sarif.ts'

const DAY_MS = 86_400_000
const LODASH = 'pkg:npm/lodash@4.17.20'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: '/v1/security/issues',
  limitDefault: 100,
  limitMax: 1000,
  hasWindow: false,
  plan: 'business',
  retentionDays: 365,
  filters: [{ status: 'open' }, { status: 'fixed' }],
  store: storeResults,
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`update security_issues set status = 'fixed', updated_at = created_at where org_id = ${orgId}`
  },
})

test('200 with an empty page where there is no issue', async () => {
  const now = api.clock.now()
  const { status, body } = await get(await api.caller({ plan: 'business' }))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [],
    next_cursor: null,
    meta: {
      since: new Date(now.getTime() - 365 * DAY_MS).toISOString(),
      until: now.toISOString(),
      retention_clamped: false,
    },
  })
})

test('402 plan_required that names business on the team plan', async () => {
  const caller = await api.caller({ plan: 'team' })
  assert.deepEqual(assertError(await get(caller), 402, 'plan_required'), { requiredPlan: 'business' })
})

test('every field of an issue of two members by two scanners', async () => {
  const caller = await api.caller()
  await link(api, caller, { provider: 'github', id: '11', name: 'acme/app' })
  const first = api.clock.now().toISOString()
  await uploadReport(api, caller, bom('Trivy', LODASH, [{ id: 'CVE-2021-23337', severity: 'medium' }]))
  api.clock.advance(60_000)
  const last = api.clock.now().toISOString()
  await uploadReport(api, caller, sarif([packageResult('CVE-2021-23337', LODASH, { tags: ['CWE-94'] })], 'Grype'))
  const issue = await onlyIssue(api, caller)
  const { id, title, description: _, ...fields } = issue
  assert.match(title, /CVE-2021-23337/)
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.deepEqual(Object.keys(issue), Object.keys(Issue.properties))
  assert.ok(Check(Issue, issue))
  assert.deepEqual(fields, {
    synthetic: false,
    kind: 'dependency',
    type: null,
    severity: 'medium',
    status: 'open',
    repository: 'acme/app',
    provider: 'github',
    repository_id: '11',
    package_name: 'lodash',
    package_version: '4.17.20',
    purl: LODASH,
    vuln_ids: ['CVE-2021-23337'],
    cwes: ['CWE-94'],
    location: null,
    resource_name: null,
    first_seen_at: first,
    last_seen_at: last,
    sources: [
      { source: 'cyclonedx', scanner: 'Trivy', count: 1, open: 1 },
      { source: 'sarif', scanner: 'Grype', count: 1, open: 1 },
    ],
    member_count: 2,
    source_count: 2,
    open_member_count: 2,
    split_from: null,
    dismiss_reason: null,
    dismiss_comment: null,
    dismissed_by_name: null,
    dismissed_at: null,
    dismissal_source: null,
    dismissal_expires_at: null,
    dismissal_ended: null,
    updated_at: last,
    intel: (await listFindings(api, caller))[0].intel,
  })
})

test('the texts of an issue come from its worst open member', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, bom('Mild', LODASH, [{ id: 'CVE-2021-1001', severity: 'low' }]))
  await uploadReport(api, caller, bom('Harsh', LODASH, [{ id: 'CVE-2021-1001', severity: 'critical' }]))
  assert.equal((await onlyIssue(api, caller)).severity, 'critical')
  await uploadReport(api, caller, bom('Harsh', LODASH, []), { complete: true })
  const { severity, status, open_member_count, sources } = await onlyIssue(api, caller)
  assert.deepEqual([severity, status, open_member_count], ['low', 'open', 1])
  assert.deepEqual(sources, [
    { source: 'cyclonedx', scanner: 'Harsh', count: 1, open: 0 },
    { source: 'cyclonedx', scanner: 'Mild', count: 1, open: 1 },
  ])
})

test('an issue has the fix and the CVSS score of any member, and the intelligence of its vulnerability', async () => {
  const caller = await api.caller()
  const vector = 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:N/A:N'
  const mild = {
    ...bom('Mild', LODASH, []),
    vulnerabilities: [
      {
        ...{ id: 'CVE-2021-1001', recommendation: 'Upgrade lodash to version 4.17.21', affects: [{ ref: 'a' }] },
        ratings: [{ method: 'CVSSv31', vector, severity: 'low' }],
      },
    ],
  }
  await uploadReport(api, caller, mild)
  await uploadReport(api, caller, bom('Harsh', LODASH, [{ id: 'CVE-2021-1001', severity: 'critical' }]))
  await api.services
    .sql`insert into intel_kev (cve_id, date_added, ransomware) values ('CVE-2021-1001', '2026-01-01', false)`
  const { severity, intel } = await onlyIssue(api, caller)
  assert.deepEqual(
    [severity, intel.fix_available, intel.cvss],
    ['critical', true, { version: '3.1', score: 3.7, vector }],
  )
  assert.deepEqual([intel.canonical_id, intel.kev.date_added], ['CVE-2021-1001', '2026-01-01'])
})

test('missing values of an issue are null or empty lists, and an issue with one finding is synthetic', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([sarifResult('rule', 3, { locations: [] })]))
  const issue = await onlyIssue(api, caller)
  assert.ok(Check(Issue, issue))
  assert.deepEqual([issue.location, issue.purl, issue.vuln_ids, issue.cwes], [null, null, [], []])
  assert.deepEqual([issue.synthetic, issue.member_count, issue.source_count], [true, 1, 1])
})

test('newest first, and each issue exactly once over all pages', async () => {
  const caller = await api.caller()
  await uploadReport(
    api,
    caller,
    sarif(
      ['a', 'b', 'c'].map((rule) => sarifResult(rule)),
      'One',
    ),
  )
  api.clock.advance(1)
  await uploadReport(api, caller, sarif([sarifResult('newest')], 'Two'))
  const all = await listIssues(api, caller)
  assert.equal(all[0].title, 'newest was violated')
  const seen: string[] = []
  let next = ''
  do {
    const { body } = await get(caller, `?limit=2${next}`)
    seen.push(...idsOf(body))
    next = body.next_cursor && `&cursor=${body.next_cursor}`
  } while (next)
  assert.deepEqual(
    seen,
    all.map(({ id }) => id),
  )
  assert.equal(seen.length, 4)
})

test('400 names the parameter that is wrong or unknown', async () => {
  const caller = await api.caller()
  for (const name of ['since', 'until', 'state']) {
    assertInvalid(await get(caller, `?${name}=2026-03-01T00:00:00Z`), `/query/${name}`)
  }
  assertError(await get(caller, '?cursor=forged'), 400, 'invalid_cursor')
})

test('an issue is fixed without an open member, and open again when one comes back', async () => {
  const caller = await api.caller()
  const show = async () => {
    const { status, severity, open_member_count: open, first_seen_at: first } = await onlyIssue(api, caller)
    return { status, severity, open, first }
  }
  const first = api.clock.now().toISOString()
  await uploadReport(api, caller, sarif([scoredResult('rule', 9.5)]))
  assert.deepEqual(await show(), { status: 'open', severity: 'critical', open: 1, first })
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([]))
  assert.deepEqual(await show(), { status: 'fixed', severity: 'critical', open: 0, first })
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([scoredResult('rule', 7)]))
  assert.deepEqual(await show(), { status: 'open', severity: 'high', open: 1, first })
})

test('an issue is dismissed where every member is, with the reason, and open while one is not', async () => {
  const caller = await api.caller()
  const suppressed = { suppressions: [{ kind: 'inSource', status: 'accepted', justification: 'reviewed' }] }
  await uploadReport(api, caller, sarif([packageResult('CVE-2021-1001', LODASH)], 'Trivy'))
  const dismissing = { ...packageResult('CVE-2021-1001', LODASH), ...suppressed }
  await uploadReport(api, caller, sarif([dismissing], 'Grype'))
  const open = await onlyIssue(api, caller)
  assert.deepEqual([open.status, open.dismiss_reason, open.dismissed_at], ['open', null, null])
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([dismissing], 'Trivy'))
  const issue = await onlyIssue(api, caller)
  assert.deepEqual([issue.status, issue.open_member_count], ['dismissed', 0])
  assert.deepEqual([issue.dismiss_comment, issue.dismissed_by_name], ['reviewed', 'scanner report'])
  assert.equal(issue.dismissed_at, api.clock.now().toISOString())
})

test('untracked findings open no issue until the tracked branch has the problem, but have an issue_id', async () => {
  const caller = await api.caller()
  await link(api, caller, { provider: 'github', id: '11', name: 'acme/app' })
  const upload = await uploadReport(api, caller, sarif([sarifResult('rule')]), { gitRef: 'feature' })
  assert.deepEqual([upload.tracked, upload.counts.newIssues], [false, 0])
  assert.deepEqual(await listIssues(api, caller), [])
  const [noted] = await listFindings(api, caller)
  assert.match(noted.issue_id, /^[0-9a-f-]{36}$/)
  const merged = await uploadReport(api, caller, sarif([sarifResult('rule')]), { gitRef: 'main' })
  assert.equal(merged.counts.newIssues, 1)
  const issue = await onlyIssue(api, caller)
  assert.deepEqual([issue.id, issue.member_count, issue.open_member_count], [noted.issue_id, 2, 1])
})

function get({ key }: Caller, query = '') {
  return api.request('GET', `/v1/security/issues${query}`, { key })
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}
