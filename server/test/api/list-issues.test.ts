import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Issue } from '../../src/security/issue.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'

const LIST = '/v1/security/issues'
const NOW = '2026-03-04T05:06:07.890Z'
const BUSINESS_RETAINED_SINCE = '2025-03-04T05:06:07.890Z'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

test('200 with an empty page where there is no issue', async () => {
  const { status, body } = await get(await api.caller({ plan: 'business' }))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [],
    next_cursor: null,
    meta: { since: BUSINESS_RETAINED_SINCE, until: NOW, retention_clamped: false },
  })
})

test('402 plan_required that names business on the team plan', async () => {
  const caller = await api.caller({ plan: 'team' })
  assert.deepEqual(assertError(await get(caller), 402, 'plan_required'), { requiredPlan: 'business' })
})

test('an issue leaves with every field as it is stored, without its creation time', async () => {
  const caller = await api.caller()
  const { path, start_line, end_line, created_at: _, ...columns } = FULL
  await insertIssue(caller, FULL)
  const [issue] = (await get(caller)).body.data
  assert.deepEqual(issue, { ...columns, location: { path, start_line, end_line } })
  assert.deepEqual(Object.keys(issue), Object.keys(Issue.properties))
  assert.ok(Check(Issue, issue))
})

test('what an issue does not have is null, and its ids are empty lists', async () => {
  const caller = await api.caller()
  await insertIssue(caller)
  const [issue] = (await get(caller)).body.data
  assert.ok(Check(Issue, issue))
  assert.deepEqual([issue.location, issue.purl, issue.vuln_ids, issue.cwes], [null, null, [], []])
})

test('newest first, equal times by id, and page by page nothing twice and nothing left out', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'Z', 'b', '_']) await insertIssue(caller, { id })
  await insertIssue(caller, { id: 'newest', created_at: '2026-03-04T00:00:00.001Z' })
  await insertIssue(caller, { id: 'oldest', created_at: '2026-03-03T23:59:59.999Z' })
  const seen: string[] = []
  let next = ''
  do {
    const { body } = await get(caller, `?limit=2${next}`)
    assert.equal(body.data.length, 2)
    seen.push(...idsOf(body))
    next = body.next_cursor && `&cursor=${body.next_cursor}`
  } while (next)
  assert.deepEqual(seen, ['newest', 'b', 'a', '_', 'Z', 'oldest'])
})

test("an issue beyond the plan's retention or of another organization is not in the list", async () => {
  const [owner, stranger] = [await api.caller({ plan: 'business' }), await api.caller({ plan: 'business' })]
  await insertIssue(owner, { id: 'kept', created_at: BUSINESS_RETAINED_SINCE })
  await insertIssue(owner, { id: 'beyond', created_at: '2025-03-04T05:06:07.889Z' })
  await insertIssue(stranger, { id: 'foreign' })
  assert.deepEqual(idsOf((await get(owner)).body), ['kept'])
})

test('400 names the parameter that is wrong, and there are none but limit and cursor', async () => {
  const caller = await api.caller()
  for (const limit of ['0', '1001']) assertInvalid(await get(caller, `?limit=${limit}`), '/query/limit')
  for (const name of ['since', 'until', 'status', 'repository']) {
    assertInvalid(await get(caller, `?${name}=2026-03-01T00:00:00Z`), `/query/${name}`)
  }
  assertError(await get(caller, '?cursor=forged'), 400, 'invalid_cursor')
})

test('limit is 100 unless given, and at most 1,000', async () => {
  const caller = await api.caller()
  for (let made = 0; made < 101; made += 1) await insertIssue(caller, { id: `issue-${made}` })
  assert.equal((await get(caller)).body.data.length, 100)
  assert.equal((await get(caller, '?limit=1000')).body.data.length, 101)
})

const FULL = {
  id: 'issue_01',
  synthetic: false,
  kind: 'dependency',
  type: 'vulnerability',
  title: 'Prototype pollution in lodash',
  description: 'All versions before 4.17.21.',
  severity: 'high',
  status: 'dismissed',
  repository: 'acme/api',
  provider: 'github',
  repository_id: '42',
  package_name: 'lodash',
  package_version: '4.17.20',
  purl: 'pkg:npm/lodash@4.17.20',
  vuln_ids: ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm'],
  cwes: ['CWE-1321'],
  path: 'package-lock.json',
  start_line: 10,
  end_line: 12,
  resource_name: 'api:latest',
  first_seen_at: '2026-03-01T01:02:03.004Z',
  last_seen_at: '2026-03-02T01:02:03.004Z',
  sources: [
    { source: 'sarif', scanner: 'Grype', count: 2, open: 1 },
    { source: 'cyclonedx', scanner: 'Trivy', count: 1, open: 0 },
  ],
  member_count: 3,
  source_count: 2,
  open_member_count: 1,
  split_from: 'issue_00',
  dismiss_reason: 'tolerable_risk',
  dismiss_comment: 'Not reachable.',
  dismissed_by_name: 'Ada',
  dismissed_at: '2026-03-03T01:02:03.004Z',
  intel: {
    canonical_id: 'CVE-2021-23337',
    kev: { cve_id: 'CVE-2021-23337', date_added: '2026-01-01', due_date: '2026-01-22', ransomware: false },
    epss: { score: 0.5, percentile: 0.75, date: '2026-03-01' },
    cvss: { version: '3.1', score: 7.2, vector: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H' },
    advisory_severity: 'high',
    withdrawn: false,
    fix_available: true,
    as_of: { kev: '2026-03-01', epss: '2026-03-01', advisory: '2026-03-01' },
  },
  created_at: '2026-03-01T02:00:00.000Z',
  updated_at: '2026-03-03T02:00:00.000Z',
}

const NOTHING_KNOWN = {
  canonical_id: null,
  kev: null,
  epss: null,
  cvss: null,
  advisory_severity: null,
  withdrawn: null,
  fix_available: false,
  as_of: { kev: null, epss: null, advisory: null },
}

/** The fewest facts that a row needs, and what the test adds. */
async function insertIssue({ orgId }: Caller, fields: Partial<typeof FULL> = {}): Promise<void> {
  const { sql } = api.services
  const row = {
    id: 'issue',
    synthetic: true,
    kind: 'code',
    title: 'An issue',
    severity: 'high',
    status: 'open',
    repository: 'acme/api',
    member_count: 1,
    source_count: 1,
    open_member_count: 1,
    first_seen_at: '2026-03-04T00:00:00.000Z',
    last_seen_at: '2026-03-04T00:00:00.000Z',
    created_at: '2026-03-04T00:00:00.000Z',
    updated_at: '2026-03-04T00:00:00.000Z',
    ...fields,
    sources: sql.json(fields.sources ?? []),
    intel: sql.json(fields.intel ?? NOTHING_KNOWN),
  }
  await sql`insert into security_issues ${sql({ ...row, org_id: orgId })}`
}

function get({ key }: Caller, query = '') {
  return api.request('GET', LIST + query, { key })
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}
