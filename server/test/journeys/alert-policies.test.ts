import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { insertPush } from '../../src/ci/changes/host-change.store.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { upsertPosition } from '../../src/codehosts/sync/sync-repository.store.ts'
import { filterEvidence } from '../../src/compliance/policies/evidence-view.ts'
import { readPolicyInputs } from '../../src/compliance/policies/read-policy-input.ts'
import { findPolicyFacts } from '../../src/security/issues/policy-facts.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { applyAlerts, codeAlert, connect } from '../support/host-alerts.ts'
import { hostPush } from '../support/host-objects.ts'
import { apply } from '../support/policies.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

const NO_CRITICAL = `
name: No critical finding
mode: monitor
bindings: { repositories: [acme/*] }
rules:
  - rule: critical
    expression: findings.open.critical == 0 && issues.open.critical == 0`

const LATER = new Date('2026-03-03T10:00:00.000Z')

let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  source = await connect(api, caller)
})

async function status() {
  const { body } = await api.request('GET', '/v1/compliance/results', { key: caller.key })
  return body.data[0]?.status
}

function facts(branch: string | null) {
  return findPolicyFacts(api.services.sql, caller.orgId, 'github.com/acme/shop', branch)
}

test('a new and a fixed alert evaluate the policies of their repository again', async () => {
  await apply(api, caller, NO_CRITICAL)
  await applyAlerts(api, source, codeAlert({ severity: 'critical' }))
  assert.equal(await status(), 'failing')
  await applyAlerts(
    api,
    source,
    codeAlert({ severity: 'critical', status: 'fixed', fixed_at: LATER, updated_at: LATER }),
  )
  assert.equal(await status(), 'passing')
})

test('policies count open alerts as verified, beside the reports of the same tool', async () => {
  await uploadReport(api, caller, sarif([sarifResult('other')], 'CodeQL'), {
    repository: 'acme/shop',
    provider: 'github',
    gitRef: 'main',
  })
  await applyAlerts(api, source, codeAlert(), codeAlert({ number: 2, severity: 'low', status: 'fixed' }))
  const { scans, findings } = await facts('main')
  assert.deepEqual(scans.map(({ tool, trust }) => `${tool} ${trust}`).sort(), ['CodeQL uploaded', 'CodeQL verified'])
  assert.deepEqual([findings.open.high, findings.open.low], [1, 0])
})

test('alerts of the tracked branch count for another branch that has alerts of its own', async () => {
  const elsewhere = codeAlert({ number: 2, severity: 'critical', git_ref: 'refs/heads/next' })
  await applyAlerts(api, source, codeAlert(), elsewhere)
  const [main, next] = [await facts('main'), await facts('next')]
  assert.deepEqual([main.findings.open.high, main.findings.open.critical], [1, 0])
  assert.deepEqual([next.findings.open.high, next.findings.open.critical], [1, 1])
})

const COMMIT = 'd'.repeat(40)

/** What a deployment of a commit from a branch is evaluated on. */
async function evidenceOf(branch: string) {
  const deployment = { id: 'd', branch, commit_sha: COMMIT, attempt: 1 }
  const subject = { org_id: caller.orgId, repository: 'github.com/acme/shop', branch, run: null }
  const { sql, clock } = api.services
  const read = readPolicyInputs(sql, { ...subject, deployment, environment: null }, clock.now())
  const [input] = (await read('commit')).inputs
  return filterEvidence(input, { trust: 'verified', max_age_ms: null, absent_evidence: 'error' }).evidence
}

test('lists of alerts about code and dependencies that were read to their ends are evidence; fewer, or that go on, are none', async () => {
  const { org_id, connection_id } = source
  const scope = { org_id, connection_id, repository_id: '1001' }
  const read = (etag: string | null, next: string | null, type = 'code_scanning') =>
    api.services.sql.begin((tx) =>
      upsertPosition(
        tx,
        { ...scope, list: `${type}_alerts` },
        { read_in: 1, etag, next, until: null, newest_at: null, walk: null },
      ),
    )
  await read('"1"', null, 'secret_scanning')
  await read('"1"', null)
  assert.match((await evidenceOf('main')).missing ?? '', /no security report/)
  await read('"1"', null, 'dependabot')
  await read(null, null)
  assert.match((await evidenceOf('main')).missing ?? '', /no security report/)
  await read('"1"', 'page 2')
  assert.notEqual((await evidenceOf('main')).missing, null)
  await read('"1"', null)
  assert.equal((await evidenceOf('main')).missing, null)
  await api.services.sql`update codehost_connections set status = 'removed' where org_id = ${org_id}`
  assert.notEqual((await evidenceOf('main')).missing, null)
})

test('a commit that the host has seen on the tracked branch is deployed with the evidence of that branch', async () => {
  await applyAlerts(api, source, codeAlert())
  assert.notEqual((await evidenceOf('release/1')).missing, null)
  const push = { ...hostPush({ after: COMMIT }), branch: 'main', after: COMMIT }
  await api.services.sql.begin((tx) => insertPush(tx, source, push))
  assert.equal((await evidenceOf('release/1')).missing, null)
})
