import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Alert } from '../../src/security/alerts/alert.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'
import { idsInNoOrder, testListContract } from '../support/list-contract.ts'

const LIST = '/v1/security/alerts'
const NOW = '2026-03-04T05:06:07.890Z'
const TEAM_RETAINED_SINCE = '2025-12-04T05:06:07.890Z'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: LIST,
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ status: 'open' }, { status: 'fixed' }],
  store: async (to, caller, count) => {
    const created_at = to.clock.now().toISOString()
    for (const id of idsInNoOrder(count)) await insertAlert(caller, { id, created_at }, to)
  },
})

test('an alert is returned with every stored field, alone and in the list', async () => {
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

test('status and severity filter exactly, alone and together', async () => {
  const caller = await api.caller()
  await insertAlert(caller, { id: 'a', status: 'open', severity: 'high' })
  await insertAlert(caller, { id: 'b', status: 'open', severity: 'low' })
  await insertAlert(caller, { id: 'c', status: 'auto_dismissed', severity: 'high' })
  assert.deepEqual(await listIds(caller, '?status=open'), ['b', 'a'])
  assert.deepEqual(await listIds(caller, '?severity=high'), ['c', 'a'])
  assert.deepEqual(await listIds(caller, '?status=open&severity=high'), ['a'])
  assert.deepEqual(await listIds(caller, '?status=Open'), [])
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
  for (const name of ['status', 'severity']) {
    for (const word of ['', '%00', 'a%20b'])
      assertInvalid(await get(caller, `${LIST}?${name}=${word}`), `/query/${name}`)
  }
  assertInvalid(await get(caller, `${LIST}?stauts=open`), '/query/stauts')
  assertInvalid(await get(caller, `${LIST}/a%20b`), '/path/id')
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
async function insertAlert({ orgId }: Caller, fields: Partial<typeof FULL> = {}, to = api): Promise<void> {
  const { sql } = to.services
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
