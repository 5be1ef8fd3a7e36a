import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { bom, listIssues } from '../../../../support/issues.ts'
import type { Json } from '../../../../support/json.ts'
import { analyzeIssues, insertIssues } from '../../../../support/many-issues.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info']

let api: TestApi
let caller: Caller
let all: Json[]
/** Sets EPSS scores and KEV on the issues directly. Other tests cover the import. */
let threats: Map<string, { epss: number; kev: boolean }>

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  await insertIssues(api, caller.orgId, 600)
  await analyzeIssues(api)
  all = await listIssues(api, caller)
  const rows = await api.services.sql`select id, epss, kev from security_issues where org_id = ${caller.orgId}`
  threats = new Map(rows.map(({ id, epss, kev }) => [id, { epss, kev }]))
})
after(() => api?.close())

type Query = Record<string, string>

/** What a list narrowed and sorted so has to be, by the plain definition. */
function expected({ sort = 'newest', ...filters }: Query): string[] {
  const threatOf = ({ id }: Json) => threats.get(id) as { epss: number; kev: boolean }
  const holds: Record<string, (issue: Json, value: string) => boolean> = {
    severity: (issue, value) => issue.severity === value,
    status: (issue, value) => issue.status === value,
    kind: (issue, value) => issue.kind === value,
    kev: (issue, value) => threatOf(issue).kev === (value === 'true'),
    urgent: (issue, value) =>
      (['critical', 'high'].includes(issue.severity) || threatOf(issue).kev) === (value === 'true'),
    created_since: ({ id }, value) => createdAt(id) >= Date.parse(value),
    epss_min: (issue, value) => threatOf(issue).epss >= Number(value),
    repository: (issue, value) => issue.repository === value,
    provider: (issue, value) => issue.provider === value,
    repository_id: (issue, value) => issue.repository_id === value,
  }
  const values: Record<string, (issue: Json) => number> = {
    newest: () => 0,
    severity: ({ severity }) => -SEVERITIES.indexOf(severity),
    epss: (issue) => threatOf(issue).epss,
  }
  const placeOf = values[sort] as (issue: Json) => number
  return all
    .filter((issue) => Object.entries(filters).every(([name, value]) => holds[name]?.(issue, value)))
    .sort((a, b) => placeOf(b) - placeOf(a))
    .map(({ id }) => id)
}

/** The time in a version 7 UUID, in Unix milliseconds. */
function createdAt(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}

function page(query: Query) {
  return api.request('GET', `/v1/security/issues?${new URLSearchParams(query)}`, { key: caller.key })
}

/** Every page of a list, by their ids. */
async function walk(query: Query, limit: number): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: Query | null = {}; cursor !== null; ) {
    const { status, body, text } = await page({ ...query, ...cursor, limit: `${limit}` })
    assert.equal(status, 200, text)
    seen.push(...body.data.map(({ id }: Json) => id))
    cursor = body.next_cursor === null ? null : { cursor: body.next_cursor }
  }
  return seen
}

test('the test data contains an issue for every filter value', () => {
  const counted = (name: string) => new Set(all.map((issue) => issue[name])).size
  assert.deepEqual(['severity', 'status', 'kind', 'provider'].map(counted), [5, 3, 3, 2])
  assert.equal(all.length, 600)
})

const FILTERS: [name: string, value: string][] = [
  ['severity', 'critical'],
  ['severity', 'info'],
  ['status', 'open'],
  ['status', 'dismissed'],
  ['kind', 'secret'],
  ['kind', 'license'],
  ['kev', 'true'],
  ['kev', 'false'],
  ['urgent', 'true'],
  ['urgent', 'false'],
  ['epss_min', '0'],
  ['epss_min', '0.02'],
  ['epss_min', '1'],
  ['repository', 'acme/small'],
  ['provider', 'gitlab'],
  ['provider', 'azure'],
]

for (const [name, value] of FILTERS) {
  test(`${name}=${value} shows those and no others, in every order`, async () => {
    for (const sort of ['newest', 'severity', 'epss']) {
      const query = { [name]: value, sort }
      const ids = (await listIssues(api, caller, query)).map(({ id }) => id)
      assert.deepEqual(ids, expected(query), sort)
    }
  })
}

test('created_since shows the issues from that time on, in every order', async () => {
  const times = all.map(({ id }) => createdAt(id)).sort()
  const created_since = new Date(times[300] as number).toISOString()
  for (const sort of ['newest', 'severity', 'epss'])
    assert.deepEqual(await walk({ created_since, sort }, 70), expected({ created_since, sort }), sort)
})

test('all filters and orders work together, and page by page they show each issue once', async () => {
  const some = <Value>(values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
  const queries = fc.record({
    severity: some(SEVERITIES),
    status: some(['open', 'fixed', 'dismissed']),
    kind: some(['code', 'dependency', 'secret']),
    kev: some(['true', 'false']),
    urgent: some(['true', 'false']),
    epss_min: some(['0', '0.004', '0.3']),
    repository: some(['acme/large-0', 'acme/small']),
    provider: some(['github', 'gitlab']),
    sort: some(['newest', 'severity', 'epss']),
  })
  await fc.assert(
    fc.asyncProperty(queries, fc.integer({ min: 7, max: 200 }), async (given, limit) => {
      const query = JSON.parse(JSON.stringify(given))
      assert.deepEqual(await walk(query, limit), expected(query))
    }),
    { numRuns: 60 },
  )
})

test('every order pages over all issues, one by one where scores are equal or missing', async () => {
  for (const sort of ['newest', 'severity', 'epss'])
    assert.deepEqual(await walk({ sort }, 37), expected({ sort }), sort)
})

test('a repository by its id of a provider, and 400 for an id without one', async () => {
  const query = { provider: 'gitlab', repository_id: '2' }
  assert.deepEqual(await walk(query, 1000), expected(query))
  assertInvalid(await page({ repository_id: '2' }), '/query/provider')
})

test('400 REPOSITORY_AMBIGUOUS for a name that two providers have, and with the provider only its issues', async () => {
  const other = await api.caller()
  for (const provider of ['github', 'gitlab']) {
    await uploadReport(api, other, sarif([sarifResult(provider)]), { provider, repositoryId: '1' })
  }
  const request = (query: string) => api.request('GET', `/v1/security/issues?${query}`, { key: other.key })
  assertError(await request('repository=acme/app'), 400, 'REPOSITORY_AMBIGUOUS')
  const { body } = await request('repository=acme/app&provider=gitlab')
  assert.deepEqual(
    body.data.map(({ title }: Json) => title),
    ['gitlab was violated'],
  )
})

test('400 that names the filter whose value is none', async () => {
  const wrong = { severity: 'severe', status: 'pending', kind: 'bug', kev: 'maybe', epss_min: '1.1', sort: 'oldest' }
  for (const [name, value] of Object.entries(wrong)) assertInvalid(await page({ [name]: value }), `/query/${name}`)
  assertInvalid(await page({ epss_min: '-0.1' }), '/query/epss_min')
})

test('400 invalid_cursor where a later page has another order or filter than the first', async () => {
  const first = await page({ sort: 'severity', kev: 'false', limit: '2' })
  const cursor = first.body.next_cursor
  assert.equal((await page({ sort: 'severity', kev: 'false', cursor })).status, 200)
  for (const query of [{ kev: 'false' }, { sort: 'epss', kev: 'false' }, { sort: 'severity' }, {}]) {
    assertError(await page({ ...query, cursor }), 400, 'invalid_cursor')
  }
})

test('an issue that is made while a client pages by severity is not seen, and none is skipped', async () => {
  const other = await api.caller()
  await insertIssues(api, other.orgId, 50)
  const ids = (await listIssues(api, other, { sort: 'severity' })).map(({ id }) => id)
  const request = (query: Query) =>
    api.request('GET', `/v1/security/issues?${new URLSearchParams({ sort: 'severity', ...query })}`, { key: other.key })
  const first = await request({ limit: '20' })
  api.clock.advance(1)
  await uploadReport(api, other, sarif([sarifResult('new')]), { repository: 'acme/new' })
  const rest = await request({ cursor: first.body.next_cursor })
  assert.deepEqual(
    [...first.body.data, ...rest.body.data].map(({ id }) => id),
    ids,
  )
})

test('a vulnerability is found by each of its ids and aliases, and a package by its name and package URL', async () => {
  const owner = await api.caller()
  const send = (tool: string, purl: string, id: string, category: string) =>
    uploadReport(api, owner, bom(tool, purl, [{ id }]), { category })
  await send('Grype', 'pkg:npm/lodash@4.17.20', 'GHSA-35jh-r3h4-6jhm', 'one')
  await send('Grype', 'pkg:pypi/Foo_Bar@1.0', 'DEBIAN-CVE-2021-23337', 'two')
  await send('Grype', 'pkg:pypi/Foo_Bar@2.0', 'CVE-2024-2222', 'three')
  await api.services.sql`
    insert into vulnerability_aliases (id, canonical_id)
    select id, 'CVE-2021-23337' from unnest(array['GHSA-35jh-r3h4-6jhm', 'CVE-2021-23337']) id`
  const namesOf = async (query: Query) =>
    (await listIssues(api, owner, query)).map((issue) => `${issue.package_name} ${issue.vuln_ids}`).sort()
  const lodash = 'lodash GHSA-35jh-r3h4-6jhm'
  const [debian, other] = ['Foo_Bar DEBIAN-CVE-2021-23337', 'Foo_Bar CVE-2024-2222']
  assert.deepEqual(await namesOf({ vulnerability: 'ghsa-35jh-r3h4-6jhm' }), [lodash])
  assert.deepEqual(await namesOf({ vulnerability: 'DEBIAN-CVE-2021-23337' }), [debian, lodash].sort())
  assert.deepEqual(await namesOf({ vulnerability: 'CVE-2024-3' }), [])
  for (const sort of ['newest', 'severity', 'epss']) {
    assert.deepEqual(await namesOf({ package: 'foo-bar', sort }), [other, debian].sort())
    assert.deepEqual(await namesOf({ package: 'pkg:pypi/foo_bar', sort }), [other, debian].sort())
    assert.deepEqual(await namesOf({ package: 'Foo.Bar', vulnerability: 'cve-2024-2222', sort, status: 'open' }), [
      other,
    ])
    assert.deepEqual(await namesOf({ package: 'foo-bar', sort, status: 'fixed' }), [])
  }
})

test('the pages of a vulnerability are those of the whole list', async () => {
  const owner = await api.caller()
  for (const [at, severity] of ['low', 'high', 'medium', 'high', 'info'].entries()) {
    api.clock.advance(1000)
    await uploadReport(api, owner, bom('Grype', `pkg:npm/package-${at}@1.0.0`, [{ id: 'CVE-2024-7', severity }]), {
      category: `${at}`,
    })
  }
  for (const sort of ['newest', 'severity', 'epss']) {
    const query = { vulnerability: 'CVE-2024-7', sort }
    const whole = (await listIssues(api, owner, query)).map(({ id }) => id)
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const parameters = new URLSearchParams({ ...query, limit: '2', ...(cursor && { cursor }) })
      const { body } = await api.request('GET', `/v1/security/issues?${parameters}`, { key: owner.key })
      paged.push(...body.data.map(({ id }: Json) => id))
      cursor = body.next_cursor
    }
    assert.equal(whole.length, 5)
    assert.deepEqual(paged, whole)
  }
})
