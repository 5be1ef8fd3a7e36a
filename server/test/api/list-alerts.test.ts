import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Alert } from '../../src/security/alerts/alert.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'

const LIST = '/v1/security/alerts'
const NOW = '2026-03-04T05:06:07.890Z'
const TEAM_RETAINED_SINCE = '2025-12-04T05:06:07.890Z'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

test('200 with an empty page where there is no alert', async () => {
  const { status, body } = await get(await api.caller({ plan: 'team' }), LIST)
  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [],
    next_cursor: null,
    meta: { since: TEAM_RETAINED_SINCE, until: NOW, retention_clamped: false },
  })
})

test('an alert leaves with every field as it is stored, alone and in the list', async () => {
  const caller = await api.caller()
  const { path, start_line, end_line, ...columns } = FULL
  await insertAlert(caller, FULL)
  const expected = { ...columns, org_id: caller.orgId, location: { path, start_line, end_line } }
  const { body } = await get(caller, `${LIST}/${FULL.id}`)
  assert.deepEqual(body, { data: expected })
  assert.deepEqual(Object.keys(body.data), Object.keys(Alert.properties))
  assert.ok(Check(Alert, body.data))
  assert.deepEqual((await get(caller, LIST)).body.data, [expected])
})

test('what an alert does not have is null, and its references are an empty list', async () => {
  const caller = await api.caller()
  await insertAlert(caller)
  const [alert] = (await get(caller, LIST)).body.data
  assert.ok(Check(Alert, alert))
  assert.deepEqual([alert.location, alert.fixed_at, alert.cve_id, alert.references], [null, null, null, []])
})

test('status and severity each keep what equals them, and both together what equals both', async () => {
  const caller = await api.caller()
  await insertAlert(caller, { id: 'a', status: 'open', severity: 'high' })
  await insertAlert(caller, { id: 'b', status: 'open', severity: 'low' })
  await insertAlert(caller, { id: 'c', status: 'auto_dismissed', severity: 'high' })
  assert.deepEqual(await listIds(caller, '?status=open'), ['b', 'a'])
  assert.deepEqual(await listIds(caller, '?severity=high'), ['c', 'a'])
  assert.deepEqual(await listIds(caller, '?status=open&severity=high'), ['a'])
  assert.deepEqual(await listIds(caller, '?status=Open'), [])
})

test('newest first, equal times by id, and page by page nothing twice and nothing left out', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'Z', 'b', '_']) await insertAlert(caller, { id })
  await insertAlert(caller, { id: 'newest', created_at: '2026-03-04T00:00:00.001Z' })
  await insertAlert(caller, { id: 'oldest', created_at: '2026-03-03T23:59:59.999Z' })
  const seen: string[] = []
  let next = ''
  do {
    const { body } = await get(caller, `${LIST}?limit=2${next}`)
    assert.equal(body.data.length, 2)
    seen.push(...body.data.map((alert: { id: string }) => alert.id))
    next = body.next_cursor && `&cursor=${body.next_cursor}`
  } while (next)
  assert.deepEqual(seen, ['newest', 'b', 'a', '_', 'Z', 'oldest'])
})

test('400 invalid_cursor when a filter differs from that of the page before', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'b']) await insertAlert(caller, { id })
  const { next_cursor } = (await get(caller, `${LIST}?limit=1&status=open`)).body
  assert.deepEqual(await listIds(caller, `?status=open&cursor=${next_cursor}`), ['a'])
  assertError(await get(caller, `${LIST}?status=fixed&cursor=${next_cursor}`), 400, 'invalid_cursor')
  assertError(await get(caller, `${LIST}?cursor=${next_cursor}`), 400, 'invalid_cursor')
})

test('since and until bound the creation time, both included', async () => {
  const caller = await api.caller()
  for (const day of ['01', '02', '03'])
    await insertAlert(caller, { id: day, created_at: `2026-03-${day}T00:00:00.000Z` })
  assert.deepEqual(await listIds(caller, '?since=2026-03-02T00:00:00Z'), ['03', '02'])
  assert.deepEqual(await listIds(caller, '?until=2026-03-02T00:00:00Z'), ['02', '01'])
})

test("404 and no place in the list for an alert beyond the plan's retention", async () => {
  const caller = await api.caller({ plan: 'team' })
  await insertAlert(caller, { id: 'kept', created_at: TEAM_RETAINED_SINCE })
  await insertAlert(caller, { id: 'beyond', created_at: '2025-12-04T05:06:07.889Z' })
  const { body } = await get(caller, `${LIST}?since=2025-01-01T00:00:00Z`)
  assert.deepEqual(idsOf(body), ['kept'])
  assert.deepEqual(body.meta, { since: TEAM_RETAINED_SINCE, until: NOW, retention_clamped: true })
  assert.equal((await get(caller, `${LIST}/kept`)).status, 200)
  assertError(await get(caller, `${LIST}/beyond`), 404, 'not_found')
})

test('404 and no place in the list for an alert of another organization', async () => {
  const [owner, stranger] = [await api.caller(), await api.caller()]
  await insertAlert(owner, { id: 'same', title: 'theirs' })
  await insertAlert(owner, { id: 'foreign' })
  await insertAlert(stranger, { id: 'same', title: 'ours' })
  assert.deepEqual(await listIds(stranger), ['same'])
  assert.equal((await get(stranger, `${LIST}/same`)).body.data.title, 'ours')
  assertError(await get(stranger, `${LIST}/foreign`), 404, 'not_found')
})

test('400 names the parameter that is unknown or wrong', async () => {
  const caller = await api.caller()
  for (const limit of ['0', '101', 'many']) assertInvalid(await get(caller, `${LIST}?limit=${limit}`), '/query/limit')
  for (const name of ['status', 'severity']) {
    for (const word of ['', '%00', 'a%20b'])
      assertInvalid(await get(caller, `${LIST}?${name}=${word}`), `/query/${name}`)
  }
  assertInvalid(await get(caller, `${LIST}?stauts=open`), '/query/stauts')
  assertInvalid(await get(caller, `${LIST}/a%20b`), '/path/id')
})

test('limit is 50 unless given', async () => {
  const caller = await api.caller()
  for (let made = 0; made < 51; made += 1) await insertAlert(caller, { id: `alert-${made}` })
  assert.equal((await listIds(caller)).length, 50)
  assert.equal((await listIds(caller, '?limit=100')).length, 51)
})

const FULL = {
  id: 'github:acme-api:dependabot.7',
  provider: 'github',
  repository: 'acme/api',
  type: 'dependency',
  severity: 'high',
  status: 'dismissed',
  title: 'Prototype pollution in lodash',
  description: 'All versions before 4.17.21.',
  package_name: 'lodash',
  vulnerable_versions: '< 4.17.21',
  patched_version: '4.17.21',
  cve_id: 'CVE-2021-23337',
  ghsa_id: 'GHSA-35jh-r3h4-6jhm',
  advisory_url: 'https://advisories.example/GHSA-35jh-r3h4-6jhm',
  github_alert_url: 'https://code.example/acme/api/security/dependabot/7',
  references: ['https://one.example', 'https://two.example'],
  path: 'package-lock.json',
  start_line: 10,
  end_line: 12,
  commit_sha: 'a'.repeat(40),
  git_ref: 'refs/heads/main',
  rule_id: 'js/prototype-pollution',
  tool_name: 'Dependabot',
  secret_type: 'none',
  detected_at: '2026-03-01T01:02:03.004Z',
  fixed_at: '2026-03-02T01:02:03.004Z',
  dismissed_by: 'user-1',
  dismissed_by_name: 'Ada',
  dismiss_reason: 'tolerable_risk',
  dismiss_comment: 'Not reachable.',
  dismissed_at: '2026-03-03T01:02:03.004Z',
  dismissal_source: 'prodgator',
  issue_id: 'issue-1',
  grouping_code: 'same_vulnerability',
  grouping_detail: 'CVE-2021-23337',
  created_at: '2026-03-01T02:00:00.000Z',
  updated_at: '2026-03-03T02:00:00.000Z',
}

/** The fewest facts that a row needs, and what the test adds. */
async function insertAlert({ orgId }: Caller, fields: Partial<typeof FULL> = {}): Promise<void> {
  const { sql } = api.services
  const row = {
    id: 'alert',
    provider: 'github',
    repository: 'acme/api',
    type: 'code',
    severity: 'high',
    status: 'open',
    title: 'An alert',
    detected_at: '2026-03-04T00:00:00.000Z',
    created_at: '2026-03-04T00:00:00.000Z',
    updated_at: '2026-03-04T00:00:00.000Z',
    ...fields,
  }
  await sql`insert into security_alerts ${sql({ ...row, references: sql.json(fields.references ?? []), org_id: orgId })}`
}

function get({ key }: Caller, path: string) {
  return api.request('GET', path, { key })
}

async function listIds(caller: Caller, query = ''): Promise<string[]> {
  return idsOf((await get(caller, LIST + query)).body)
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}
