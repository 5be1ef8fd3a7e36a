import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assignPlan } from '../../src/access/manage-access.ts'
import { insertAuditEntry, SYSTEM } from '../../src/audit/audit.store.ts'
import { formatArtifactKey } from '../../src/ci/reports/artifact-object.ts'
import { settleDeployments } from '../../src/deployments/gates/settle-deployments.job.ts'
import { DAY_MS, getUtcDayStart } from '../../src/platform/clock.ts'
import { removeAllAbandoned } from '../../src/platform/objects/remove-abandoned.job.ts'
import { verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { computeAuditExpiry } from '../../src/retention/expiry.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { findState, listRemoved } from '../../src/retention/retention.store.ts'
import { countExpired } from '../../src/retention/retention-figures.ts'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { getReportKey } from '../../src/security/uploads/upload-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { appendChange, changeId } from '../support/chains.ts'
import { sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { furnish, insertAlertRow, insertDeployment, SBOM } from '../support/furnish.ts'
import { rowsOf } from '../support/organization-rows.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { dismissAll } from '../support/triage.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const removeAll = () => removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })

/** It was made with the features of a larger plan. */
async function keepFor90Days({ slug }: Caller): Promise<void> {
  await assignPlan(api.services, slug, 'team')
}

async function finishRuns({ orgId }: Caller): Promise<void> {
  await api.services.sql`update ci_runs set status = 'success', completed_at = started_at where org_id = ${orgId}`
}

async function countOf(caller: Caller, table: string): Promise<number> {
  const [{ count }] = await api.services.sql<[{ count: number }]>`
    select count(*)::int as count
    from ${api.services.sql(table)}
    where org_id = ${caller.orgId}`
  return count
}

test('all that is past the retention of the plan is removed, and nothing of another organization', async () => {
  const [short, long] = [await api.caller(), await api.caller()]
  for (const owner of [short, long]) {
    await furnish(api, owner)
    const run = await createRun(api, owner, { external_run_id: 'finished' })
    const { report_id } = await sendReport(api, owner, run.id)
    assert.ok(report_id)
    await finishRuns(owner)
    await uploadReport(api, owner, { ...SBOM, components: [{ type: 'library', name: 'other' }], vulnerabilities: [] })
    await api.services.sql`update deployments set status = 'failure' where org_id = ${owner.orgId}`
    await api.services.sql`
      update security_alerts set host_status = 'fixed', fixed_at = host_updated_at where org_id = ${owner.orgId}`
  }
  await keepFor90Days(short)
  const kept = await rowsOf(api.services.sql, long.orgId)
  const before_ = await countOf(short, 'ci_reports')
  assert.ok(before_ > 0)
  api.clock.advance(100 * DAY_MS)
  const expected = await countExpired(api.services)
  assert.equal(await removeAll(), 'finished')
  for (const table of [
    'ci_runs',
    'ci_reports',
    'ci_artifacts',
    'ci_attestations',
    'deployments',
    'findings',
    'security_issues',
    'security_alerts',
    'statements',
  ])
    assert.equal(await countOf(short, table), 0, table)
  assert.deepEqual(await rowsOf(api.services.sql, long.orgId), kept)
  const removed = Object.fromEntries(
    (await listRemoved(api.services.sql)).map(({ kind, removed_in_run }) => [kind, removed_in_run]),
  )
  for (const [kind, count] of Object.entries(expected)) {
    // Issues expire with their findings, and triages with both.
    if (kind !== 'issues' && kind !== 'triages') assert.equal(removed[kind] ?? 0, count, kind)
  }
  assert.equal((await findState(api.services.sql))?.is_finished, true)
})

test('a second run removes nothing and keeps the figures of the first as totals', async () => {
  const totals = async () => (await listRemoved(api.services.sql)).map(({ removed }) => removed)
  const earlier = await totals()
  assert.equal(await removeAll(), 'finished')
  assert.deepEqual(await totals(), earlier)
  for (const { kind, removed_in_run } of await listRemoved(api.services.sql)) assert.equal(removed_in_run, 0, kind)
})

test('files are removed with their artifacts and uploads', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const report = await sendReport(api, caller, run.id)
  const artifact = await uploadArtifact(api, caller, report as never, 'dist/app.js', 'bytes')
  const replaced = await uploadReport(api, caller, sarif([sarifResult('one')]))
  const last = await uploadReport(api, caller, sarif([sarifResult('two')]))
  await finishRuns(caller)
  const { objects } = api.services
  const keys = [formatArtifactKey(caller.orgId, artifact), getReportKey(caller.orgId, replaced.id)]
  for (const key of keys) assert.ok(await objects.stat(key), key)
  await keepFor90Days(caller)
  api.clock.advance(100 * DAY_MS)
  await removeAll()
  await removeAllAbandoned(api.services)
  for (const key of keys) assert.equal(await objects.stat(key), null, key)
  // The last report of a tracked branch stays: policies read it, and it can be submitted again.
  assert.ok(await objects.stat(getReportKey(caller.orgId, last.id)))
  const read = async (id: string) =>
    (await api.request('GET', `/v1/security/uploads/${id}`, { key: caller.key })).status
  assert.deepEqual([await read(replaced.id), await read(last.id)], [404, 200])
})

test('what runs stays with its run until its age since it was replaced is that of the retention', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  const [first, second] = [await createRun(api, caller), await createRun(api, caller)]
  await finishRuns(caller)
  await insertDeployment(api, caller)
  await sql`update deployments set pipeline_run_id = ${first.id} where org_id = ${caller.orgId}`
  await keepFor90Days(caller)
  await settleDeployments.run(api.services, {})
  api.clock.advance(400 * DAY_MS)
  await removeAll()
  const shown = async () => {
    const paths = [
      'deployments/deployment_1',
      'deployments?environment=production',
      `runs/${first.id}`,
      `runs/${second.id}`,
    ]
    const answers = await Promise.all(paths.map((path) => api.request('GET', `/v1/${path}`, { key: caller.key })))
    return answers.map(({ status, body }) => (Array.isArray(body.data) ? body.data.length : status))
  }
  assert.deepEqual(await shown(), [200, 1, 200, 404])
  const now = api.clock.now()
  const pipeline_run_id = (await createRun(api, caller)).id
  const next = { id: 'deployment_2', created_at: now, deployed_at: now, updated_at: now, pipeline_run_id }
  const unfilled = { succeeded_at: null, live_unit: null, live_lane: null, live_at: null }
  await sql`
    insert into deployments
    select (jsonb_populate_record(old, ${sql.json({ ...next, ...unfilled })}::jsonb)).*
    from deployments old
    where org_id = ${caller.orgId}`
  await settleDeployments.run(api.services, {})
  api.clock.advance(89 * DAY_MS)
  await removeAll()
  assert.deepEqual(await shown(), [200, 2, 200, 404])
  api.clock.advance(2 * DAY_MS)
  await removeAll()
  assert.deepEqual(await shown(), [404, 1, 404, 404])
})

test('what waits or is still reported stays, however old it is', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  await createRun(api, caller)
  await insertDeployment(api, caller)
  await sql`
    update deployments set status = 'pending_approval', custom_rule_state = 'pending' where org_id = ${caller.orgId}`
  await insertAlertRow(sql, caller.orgId, { id: 'open_alert', created_at: api.clock.now() })
  await uploadReport(api, caller, sarif([sarifResult('dismissed'), sarifResult('too')]))
  await dismissAll(api, caller.orgId)
  const unread = await queueUpload(caller)
  await keepFor90Days(caller)
  api.clock.advance(400 * DAY_MS)
  await removeAll()
  for (const [table, count] of Object.entries({ ci_runs: 1, deployments: 1, security_alerts: 1, findings: 2 }))
    assert.equal(await countOf(caller, table), count, table)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: unread })
  assert.equal((await getUpload(api, caller, unread)).status, 'finished')
})

/** An upload that waits for its job. */
async function queueUpload(caller: Caller): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(sarif([sarifResult('later')])))
  const created = await createUpload(api, caller, bytes, { category: 'later' })
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  return id
}

test('a dismissed finding that comes back after its removal is new and open', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([sarifResult('gone'), sarifResult('kept')]))
  await uploadReport(api, caller, sarif([sarifResult('kept')]))
  assert.equal(await countOf(caller, 'findings'), 2)
  await keepFor90Days(caller)
  api.clock.advance(100 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'findings'), 1)
  assert.equal(await countOf(caller, 'security_issues'), 1)
  const again = await uploadReport(api, caller, sarif([sarifResult('gone'), sarifResult('kept'), sarifResult('more')]))
  assert.equal(again.status, 'finished', again.error)
  const [{ open }] = await api.services.sql<[{ open: number }]>`
    select count(*)::int as open from findings where org_id = ${caller.orgId} and state = 'open'`
  assert.equal(open, 3)
})

test('the first day within the retention is kept as a whole, and the one before it is gone', async () => {
  const caller = await api.caller()
  const run = await createRun(api, caller)
  const { sql } = api.services
  await finishRuns(caller)
  const edge = getUtcDayStart(new Date(api.clock.now().getTime() - 90 * DAY_MS))
  const dayBefore = new Date(edge.getTime() - 1)
  await sql`
    update ci_runs
    set created_at = ${dayBefore}, started_at = ${dayBefore}, completed_at = ${dayBefore}
    where org_id = ${caller.orgId} and id = ${run.id}`
  const later = await createRun(api, caller)
  await finishRuns(caller)
  await sql`update ci_runs set created_at = ${edge} where org_id = ${caller.orgId} and id = ${later.id}`
  await keepFor90Days(caller)
  await removeAll()
  const rows = await sql<{ id: string }[]>`select id from ci_runs where org_id = ${caller.orgId}`
  assert.deepEqual(
    rows.map(({ id }) => id),
    [later.id],
  )
})

test('a larger plan keeps more, and a clock that was set back removes nothing', async () => {
  const caller = await api.caller()
  await createRun(api, caller)
  await finishRuns(caller)
  api.clock.advance(100 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'ci_runs'), 1)
  await keepFor90Days(caller)
  api.clock.advance(-50 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'ci_runs'), 1)
  api.clock.advance(50 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'ci_runs'), 0)
})

test('audit entries have a retention of their own, and nothing else can delete them', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  await keepFor90Days(caller)
  const at = api.clock.now()
  const entry = { principal: SYSTEM, action: 'a.b', object: { type: 'thing', id: '1' }, reason: null }
  await sql.begin((tx) => insertAuditEntry(tx, caller.orgId, entry, at))
  api.clock.advance(100 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'audit_entries'), 1)
  await assert.rejects(sql`delete from audit_entries where org_id = ${caller.orgId}`, /append only/)
  api.clock.advance(1800 * DAY_MS)
  await removeAll()
  assert.equal(await countOf(caller, 'audit_entries'), 0)
  api.clock.advance(-1900 * DAY_MS)
})

test('the setting of the audit retention never removes entries before the data of the plan, and 0 keeps them', () => {
  const at = new Date('2026-03-04T05:06:07.890Z')
  const before_ = new Date('2026-01-01T00:00:00.000Z')
  const expiry = { org_id: 'o', before: before_, at }
  assert.equal(computeAuditExpiry(expiry, 0), null)
  assert.deepEqual(computeAuditExpiry(expiry, 1)?.before, before_)
  assert.deepEqual(computeAuditExpiry(expiry, 100)?.before, new Date('2025-11-24T00:00:00.000Z'))
})

test('change records leave tombstones with which the chain verifies, and their statement is refused', async () => {
  const caller = await api.caller()
  const chain = { org_id: caller.orgId, provider: 'github', repository_id: '1' }
  await appendChange(api.services, chain, { number: 1, landed_at: api.clock.now() })
  await api.services.sql`update organizations set plan = 'enterprise' where id = ${caller.orgId}`
  api.clock.advance(1200 * DAY_MS)
  await appendChange(api.services, chain, { number: 2, landed_at: api.clock.now() })
  await removeAll()
  const links = await api.services.sql<{ index: number; body: string | null }[]>`
    select index, body from chain_links where org_id = ${caller.orgId} order by index`
  assert.deepEqual(
    links.map(({ body }) => body === null),
    [true, false],
  )
  assert.deepEqual((await verifyChains(api.services, [chain])).breaks, [])
  const path = `/v1/provenance/changes/${encodeURIComponent(changeId('1', 1))}/statement`
  const { status, body } = await api.request('GET', path, { key: caller.key })
  assert.deepEqual([status, body.error.details.reason], [409, 'RECORD_EXPIRED'])
})
