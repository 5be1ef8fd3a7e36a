import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { OPERATOR } from '../../../src/audit/audit.store.ts'
import type { InventoryMatching } from '../../../src/organizations/organization.store.ts'
import { findPolicyFacts } from '../../../src/security/issues/policy-facts.store.ts'
import { assignInventoryMatching } from '../../../src/security/matches/match-components.job.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, clearIntel, importRecords, listMatches, sendSbom } from '../../support/inventory.ts'
import { listIssues } from '../../support/issues.ts'
import { drainQueue } from '../../support/queue.ts'
import { dismissAll } from '../../support/triage.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  await clearIntel(api.services)
  await importRecords(api.services, advisory('GHSA-1', {}))
})

const send = () => sendSbom(api, caller, ['pkg:npm/lodash@1.0.0'], { gitRef: 'main' })
async function turn(matching: InventoryMatching): Promise<void> {
  api.clock.advance(1000)
  await assignInventoryMatching(api.services, caller.orgId, OPERATOR, matching)
  await drainQueue(api)
}
const shown = async () =>
  (await listMatches(api, caller)).map(({ state, preview, tracked, category_reason }) => [
    state,
    preview,
    tracked,
    category_reason,
  ])
const countFacts = async (branch: string | null) => {
  const { findings, issues, scans } = await findPolicyFacts(
    api.services.sql,
    caller.orgId,
    'github.com/acme/app',
    branch,
  )
  return [findings.open.medium, issues.open.medium, scans.filter(({ tool }) => tool === 'shiplock').length]
}

test('a preview shows findings that count nowhere, until it is turned on', async () => {
  await turn('preview')
  await send()
  assert.deepEqual(await shown(), [['open', true, false, null]])
  assert.deepEqual([await listIssues(api, caller), await countFacts('main')], [[], [0, 0, 0]])
  await turn('on')
  assert.deepEqual(await shown(), [['open', false, true, null]])
  assert.equal((await listIssues(api, caller)).length, 1)
  assert.deepEqual(await countFacts('main'), [1, 1, 0])
  await turn('preview')
  assert.deepEqual([await shown(), await listIssues(api, caller)], [[['open', true, false, null]], []])
})

test('off ends all matches without fixing them; on again, they are there with their triage', async () => {
  await send()
  await dismissAll(api, caller.orgId, { reason: 'mitigated' })
  const [first] = await listMatches(api, caller)
  assert.equal(first.state, 'dismissed')
  await turn('off')
  assert.equal((await listMatches(api, caller))[0]?.category_reason, 'matching_off')
  const upload = await sendSbom(api, caller, ['pkg:npm/lodash@1.0.0', 'pkg:npm/lodash@1.1.0'], { gitRef: 'main' })
  assert.deepEqual(upload.counts.matches, { opened: 0, closed: 0 })
  await turn('on')
  const again = await listMatches(api, caller)
  assert.deepEqual(
    again.map(({ state, package_version }) => [state, package_version]),
    [
      ['dismissed', '1.0.0'],
      ['open', '1.1.0'],
    ],
  )
  assert.equal(again[0].id, first.id)
})

test('after an upgrade, stored components are previewed in one run that one event tells of', async () => {
  const { sql } = api.services
  await send()
  await sendSbom(api, caller, ['pkg:npm/lodash@1.0.0'], { repository: 'acme/other' })
  // As the organization is when its documents were stored before there were matches.
  await sql`delete from inventory_matches where org_id = ${caller.orgId}`
  await sql`delete from findings where org_id = ${caller.orgId}`
  await sql`delete from finding_streams where org_id = ${caller.orgId} and origin = 'inventory'`
  await sql`update organizations set inventory_matching = 'preview' where id = ${caller.orgId}`
  await sql`update matching_progress set is_due = true, followed_until = 0 where org_id = ${caller.orgId}`
  await importRecords(api.services, advisory('GHSA-2', { name: 'other' }))
  await drainQueue(api)
  assert.deepEqual(await shown(), [
    ['open', true, false, null],
    ['open', true, false, null],
  ])
  const events = await sql`
    select type, data from events where org_id = ${caller.orgId} and type like 'security.match%'`
  assert.deepEqual(
    events.map((row) => ({ ...row })),
    [{ type: 'security.matching.followed', data: { findings: 2, repositories: 2 } }],
  )
})

test('who turns matching off is in the audit log', async () => {
  await turn('off')
  const [entry] = await api.services.sql`
    select action, details from audit_entries where org_id = ${caller.orgId} order by at desc limit 1`
  assert.deepEqual(
    { ...entry },
    {
      action: 'organization.update',
      details: { inventory_matching: 'off', before: 'on' },
    },
  )
})
