import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Alert } from '../../../../../src/security/alerts/alert.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { insertAlertRow } from '../../../../support/furnish.ts'
import { applyAlerts, connect, dependencyAlert } from '../../../../support/host-alerts.ts'
import { hostAccount } from '../../../../support/host-objects.ts'
import { idsInNoOrder, testListContract } from '../../../../support/list-contract.ts'

const LIST = '/v1/security/alerts'
const AT = new Date('2026-03-01T10:00:00.000Z')
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
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`
      update security_alerts
      set host_status = 'fixed', fixed_at = created_at, host_updated_at = created_at
      where org_id = ${orgId}`
  },
})

test('an alert is returned with every field, alone and in the list', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const dismissal = { by: hostAccount({ name: 'Ada L.' }), reason: 'tolerable_risk', comment: 'Not reachable.', at: AT }
  const alert = dependencyAlert({
    status: 'dismissed',
    dismissal,
    description: 'All versions before 4.17.21.',
    commit_sha: 'a'.repeat(40),
    git_ref: 'refs/heads/main',
    rule_id: 'npm/lodash',
    location: { path: 'package-lock.json', start_line: 10, end_line: 12, start_column: null, end_column: null },
    references: ['https://one.example/', 'https://two.example/'],
  })
  await applyAlerts(api, source, alert)
  const [finding] = await listFindings(api, caller)
  const expected = {
    id: 'gh_alert_dependabot_1001_1',
    org_id: caller.orgId,
    repository: 'acme/shop',
    type: 'dependabot',
    severity: 'high',
    title: 'Command Injection in lodash',
    description: 'All versions before 4.17.21.',
    package_name: 'lodash',
    vulnerable_versions: '< 4.17.21',
    patched_version: '4.17.21',
    cve_id: 'CVE-2021-23337',
    status: 'dismissed',
    detected_at: '2026-03-02T10:00:00.000Z',
    fixed_at: null,
    dismissed_by: 'ada',
    dismiss_reason: 'tolerable_risk',
    dismiss_comment: 'Not reachable.',
    dismissed_at: AT.toISOString(),
    dismissed_by_name: 'Ada L.',
    dismissal_source: 'github',
    dismissal_delivery: null,
    github_alert_url: 'https://github.com/acme/shop/security/dependabot/1',
    proposed_dismissal: null,
    ghsa_id: 'GHSA-35jh-r3h4-6jhm',
    advisory_url: 'https://github.com/advisories/GHSA-35jh-r3h4-6jhm',
    references: ['https://one.example/', 'https://two.example/'],
    location: { path: 'package-lock.json', start_line: 10, end_line: 12 },
    commit_sha: 'a'.repeat(40),
    git_ref: 'refs/heads/main',
    provider: 'github',
    rule_id: 'npm/lodash',
    tool_name: 'Dependabot',
    secret_type: null,
    created_at: NOW,
    updated_at: '2026-03-02T10:00:00.000Z',
    issue_id: finding.issue_id,
    finding_id: finding.id,
    grouping_code: 'single',
    grouping_detail: 'No other finding in the repository matches this one.',
  }
  const { body } = await get(caller, `${LIST}/gh_alert_dependabot_1001_1`)
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
  await insertAlert(caller, { id: 'c', status: 'dismissed', severity: 'high' })
  assert.deepEqual(await listIds(caller, '?status=open'), ['b', 'a'])
  assert.deepEqual(await listIds(caller, '?severity=high'), ['c', 'a'])
  assert.deepEqual(await listIds(caller, '?status=open&severity=high'), ['a'])
  assert.deepEqual(await listIds(caller, '?status=Open'), [])
})

test("404 and no place in the list for an alert beyond the plan's retention", async () => {
  const caller = await api.caller({ plan: 'team' })
  await insertAlert(caller, { id: 'kept', created_at: TEAM_RETAINED_SINCE })
  const created_at = '2025-12-04T05:06:07.889Z'
  await insertAlert(caller, { id: 'beyond', created_at, host_updated_at: created_at, status: 'dismissed' })
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

type Stored = Record<'id' | 'status' | 'severity' | 'title' | 'created_at' | 'host_updated_at', string>

/** The fewest facts that a row needs, and what the test adds. */
async function insertAlert({ orgId }: Caller, fields: Partial<Stored> = {}, to = api): Promise<void> {
  const { status = 'open', ...others } = fields
  await insertAlertRow(to.services.sql, orgId, { host_status: status, ...others })
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
