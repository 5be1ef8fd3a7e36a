import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { expireTriages } from '../../../../../src/security/triage/expire-triages.job.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { clearJobs, listJobs } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'
import { vulnerable } from '../../../../support/vex.ts'

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'security' })
})

let reports = 0
/** Uploads a report a second after the one before; no two are the same file. */
async function report(results: unknown[], { tool = 'Linter', ...options }: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  const marks = { automationDetails: { guid: `${++reports}` } }
  const upload = await uploadReport(api, caller, sarif(results, tool as string, marks), options)
  assert.equal(upload.status, 'finished', upload.error)
  return upload
}

const findings = () => listFindings(api, caller)
const only = async () => (await findings())[0]
const triage = (body: Json, person = ada) => requestAs(api, person, 'POST', '/security/triage', body)
const undo = (id: string, person = ada) => requestAs(api, person, 'POST', `/security/triage/${id}/undo`)

async function triaged(body: Json): Promise<Json> {
  const answer = await triage(body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

async function dismissed(fields: Json): Promise<Json> {
  return triaged({ action: 'dismiss', reason: 'false_positive', ...fields })
}

async function issues(): Promise<Json[]> {
  return (await requestAs(api, ada, 'GET', '/security/issues')).body.data
}

test('201: a dismissed finding names the person, the reason and the comment, and its issue is dismissed', async () => {
  await report([sarifResult('a')])
  const { id, issue_id, title } = await only()
  const created = await dismissed({ finding_ids: [id], comment: ' Not reachable. ' })
  const at = api.clock.now().toISOString()
  assert.deepEqual(created, {
    id: created.id,
    action: 'dismiss',
    source: 'shiplock',
    target_type: 'finding',
    target_ids: [id],
    target_titles: [title],
    scope: 'issue',
    finding_count: 1,
    alert_count: 0,
    reason: 'false_positive',
    comment: 'Not reachable.',
    expires_at: null,
    created_at: at,
    created_by_id: ada.userId,
    created_by_name: 'Ada Lovelace',
    status: 'active',
    ended_at: null,
    ended_by_name: null,
  })
  const finding = await only()
  assert.deepEqual(
    [finding.state, finding.dismiss_reason, finding.dismiss_comment, finding.dismissed_by_name, finding.dismissed_at],
    ['dismissed', 'false_positive', 'Not reachable.', 'Ada Lovelace', at],
  )
  assert.deepEqual([finding.dismissal_source, finding.triage_id], ['shiplock', created.id])
  const [issue] = await issues()
  assert.deepEqual(
    [issue.id, issue.status, issue.dismiss_reason, issue.dismissed_by_name, issue.dismissal_source],
    [issue_id, 'dismissed', 'false_positive', 'Ada Lovelace', 'shiplock'],
  )
})

test('200: undo restores the state, and a reopening is undone before the dismissal that it follows', async () => {
  await report([sarifResult('a')])
  const { id } = await only()
  const first = await dismissed({ finding_ids: [id] })
  const second = await triaged({ action: 'reopen', finding_ids: [id] })
  assert.deepEqual([(await only()).state, (await only()).dismissed_at], ['open', null])
  const refused = await undo(first.id)
  assertError(refused, 409, 'triaged_again')
  assert.deepEqual(refused.body.error.details.ids, [second.id])
  const undone = await undo(second.id)
  assert.deepEqual([undone.status, undone.body.data.status, undone.body.data.ended_by_name], [200, 'undone', ada.name])
  assert.deepEqual([(await only()).state, (await only()).triage_id], ['dismissed', first.id])
  assert.equal((await undo(first.id)).status, 200)
  assert.deepEqual([(await only()).state, (await only()).triage_id], ['open', null])
  assert.equal((await issues())[0]?.status, 'open')
  assertError(await undo(first.id), 409, 'triage_ended')
})

test('undo shows what later reports have said in the meantime', async () => {
  await report([sarifResult('a')])
  const { id } = await dismissed({ finding_ids: [(await only()).id] })
  await report([])
  assert.equal((await only()).state, 'dismissed')
  await undo(id)
  assert.equal((await only()).state, 'fixed')
})

test('a finding that a report dismissed and a person reopened stays open while the report dismisses it', async () => {
  const suppressed = (line: number) => sarifResult('a', line, { suppressions: [{ kind: 'external' }] })
  await report([suppressed(1)])
  const { id } = await triaged({ action: 'reopen', finding_ids: [(await only()).id] })
  await report([suppressed(2)])
  assert.equal((await only()).state, 'open')
  await report([])
  assert.equal((await only()).state, 'fixed')
  await undo(id)
  await report([suppressed(3)])
  assert.equal((await only()).state, 'dismissed')
})

test('a finding that joins a dismissed issue is dismissed with it: of another branch, of another scanner', async () => {
  await report([sarifResult('a')])
  const { issue_id } = await only()
  const { id } = await dismissed({ issue_ids: [issue_id] })
  const feature = await report([sarifResult('a')], { gitRef: 'feature' })
  assert.equal(feature.counts.openBySeverity.medium, 0)
  const all = await findings()
  assert.deepEqual(
    all.map(({ issue_id: issue, state, triage_id }: Json) => [issue, state, triage_id]),
    [
      [issue_id, 'dismissed', id],
      [issue_id, 'dismissed', id],
    ],
  )
  const stored = await requestAs(api, ada, 'GET', `/security/triage/${id}`)
  assert.equal(stored.body.data.finding_count, 2)
  await undo(id)
  assert.deepEqual(new Set((await findings()).map(({ state }: Json) => state)), new Set(['open']))
})

test('what joins a dismissed issue at another place is open, and what is there again is dismissed', async () => {
  const [before, after] = ['pkg:npm/lodash@4.17.20', 'pkg:npm/lodash@4.17.19']
  const send = async (packages: string[], gitRef = 'main') => {
    api.clock.advance(1000)
    const found = vulnerable(Object.fromEntries(packages.map((purl) => [purl, 'CVE-2021-23337'])))
    await uploadReport(api, caller, { ...found, version: api.clock.now().getTime() }, { gitRef })
  }
  const states = async () =>
    (await findings()).map(({ package_version, state }: Json) => `${package_version} ${state}`).sort()
  await send([before])
  await dismissed({ issue_ids: [(await only()).issue_id] })
  await send([before], 'feature')
  assert.deepEqual(await states(), ['4.17.20 dismissed', '4.17.20 dismissed'])
  await send([before, after])
  assert.deepEqual(await states(), ['4.17.19 open', '4.17.20 dismissed', '4.17.20 dismissed'])
  assert.equal(new Set((await findings()).map(({ issue_id }: Json) => issue_id)).size, 1)
})

test('a finding stays open where another finding of its issue is open or was dismissed by its report', async () => {
  await report([sarifResult('a')])
  await report([sarifResult('a')], { gitRef: 'feature' })
  const [newest, first] = await findings()
  assert.equal(newest.issue_id, first.issue_id)
  await dismissed({ finding_ids: [first.id] })
  await report([sarifResult('a')], { gitRef: 'other' })
  const states = (await findings()).map(({ state }: Json) => state)
  assert.deepEqual(states.sort(), ['dismissed', 'open', 'open'])
})

test('a fixed finding of a dismissed issue that comes back is dismissed', async () => {
  await report([sarifResult('a')])
  await report([sarifResult('a')], { gitRef: 'feature' })
  await report([], { gitRef: 'feature' })
  const { issue_id } = await only()
  await dismissed({ issue_ids: [issue_id] })
  assert.deepEqual((await findings()).map(({ state }: Json) => state).sort(), ['dismissed', 'fixed'])
  await report([sarifResult('a')], { gitRef: 'feature' })
  assert.deepEqual(
    (await findings()).map(({ state }: Json) => state),
    ['dismissed', 'dismissed'],
  )
})

test('409 not_open, 409 not_dismissed and 404 change nothing, and name what they refuse', async () => {
  await report([sarifResult('a'), sarifResult('b', 50)])
  const [one, two] = await findings()
  await dismissed({ finding_ids: [one.id] })
  const twice = await triage({ action: 'dismiss', reason: 'wont_fix', finding_ids: [two.id, one.id] })
  assertError(twice, 409, 'not_open')
  assert.deepEqual(twice.body.error.details.ids, [one.id])
  const open = await triage({ action: 'reopen', finding_ids: [one.id, two.id] })
  assertError(open, 409, 'not_dismissed')
  const unknown = '00000000-0000-7000-8000-000000000000'
  const missing = await triage({ action: 'dismiss', reason: 'wont_fix', issue_ids: [two.issue_id, unknown] })
  assertError(missing, 404, 'not_found')
  assert.deepEqual(missing.body.error.details.ids, [unknown])
  assert.deepEqual(
    (await findings()).map(({ id, state }: Json) => [id, state]),
    [
      [one.id, 'dismissed'],
      [two.id, 'open'],
    ],
  )
})

test('400 for a dismissal without reason, a reopening with one, a past expiry, several kinds of targets, and none', async () => {
  const finding_ids = ['00000000-0000-7000-8000-000000000000']
  for (const body of [
    { action: 'dismiss', finding_ids },
    { action: 'dismiss', finding_ids, reason: 'because' },
    { action: 'reopen', finding_ids, reason: 'wont_fix' },
    { action: 'dismiss', finding_ids, reason: 'wont_fix', expires_at: api.clock.now().toISOString() },
    { action: 'dismiss', finding_ids, issue_ids: finding_ids, reason: 'wont_fix' },
    { action: 'dismiss', reason: 'wont_fix' },
    { action: 'dismiss', finding_ids: [], reason: 'wont_fix' },
    { action: 'dismiss', finding_ids: Array(1001).fill(finding_ids[0]), reason: 'wont_fix' },
    { action: 'dismiss', finding_ids: ['x'], reason: 'wont_fix' },
    { action: 'split', finding_ids },
  ])
    assertError(await triage(body), 400, 'invalid_request')
})

test('403 for a role without the permission, and 404 for what another organization has', async () => {
  await report([sarifResult('a')])
  const { id } = await only()
  const developer = await createPerson(api, { ...caller, role: 'developer' })
  const body = { action: 'dismiss', reason: 'wont_fix', finding_ids: [id] }
  assertError(await triage(body, developer), 403, 'insufficient_permission')
  const stranger = await createPerson(api, { ...(await api.caller()), role: 'security' })
  assertError(await triage(body, stranger), 404, 'not_found')
  const own = await dismissed({ finding_ids: [id] })
  assertError(await undo(own.id, stranger), 404, 'not_found')
  assertError(await requestAs(api, stranger, 'GET', `/security/triage/${own.id}`), 404, 'not_found')
  assert.equal((await requestAs(api, developer, 'GET', `/security/triage/${own.id}`)).status, 200)
})

test('1,000 issues are dismissed in one request', async () => {
  const results = Array.from({ length: 1000 }, (_, index) => sarifResult(`rule-${index}`, 1 + index * 50))
  await report(results)
  const issue_ids = [...new Set((await listFindings(api, caller)).map(({ issue_id }: Json) => issue_id))]
  const created = await dismissed({ issue_ids })
  assert.equal(created.finding_count, 1000)
  assert.deepEqual(new Set((await findings()).map(({ state }: Json) => state)), new Set(['dismissed']))
})

test('parallel dismissals of one finding: one counts, and the others are refused', async () => {
  await report([sarifResult('a')])
  const { id } = await only()
  const body = { action: 'dismiss', reason: 'wont_fix', finding_ids: [id] }
  const answers = await Promise.all(Array.from({ length: 8 }, () => triage(body)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)])
  const list = await requestAs(api, ada, 'GET', `/security/triage?finding_id=${id}`)
  assert.equal(list.body.data.length, 1)
})

test('a dismissal with an expiry ends by itself, and shows what was decided before', async () => {
  await report([sarifResult('a')])
  const { id, issue_id } = await only()
  const expires_at = new Date(api.clock.now().getTime() + 60_000).toISOString()
  const first = await dismissed({ finding_ids: [id], expires_at })
  assert.equal((await only()).dismissal_expires_at, expires_at)
  assert.equal((await issues())[0]?.dismissal_expires_at, expires_at)
  await expireTriages(api.services)
  assert.equal((await only()).state, 'dismissed')
  api.clock.advance(60_000)
  await Promise.all([expireTriages(api.services), expireTriages(api.services)])
  assert.deepEqual([(await only()).state, (await only()).dismissal_expires_at], ['open', null])
  assert.deepEqual(
    (await issues()).map((issue) => [issue.id, issue.status]),
    [[issue_id, 'open']],
  )
  const { body } = await requestAs(api, ada, 'GET', `/security/triage/${first.id}`)
  assert.deepEqual([body.data.status, body.data.ended_at], ['expired', api.clock.now().toISOString()])
  const [{ count }] = await api.services.sql<[{ count: number }]>`
    select count(*) as count
    from audit_entries
    where org_id = ${caller.orgId}
      and action = 'triage.expire'`
  assert.equal(count, 1)
  assertError(await undo(first.id), 409, 'triage_ended')
})

test('undoing a triage that hides an expired dismissal does not bring the dismissal back', async () => {
  await report([sarifResult('a')])
  const { id } = await only()
  const expires_at = new Date(api.clock.now().getTime() + 60_000).toISOString()
  await dismissed({ finding_ids: [id], expires_at })
  const reopening = await triaged({ action: 'reopen', finding_ids: [id] })
  api.clock.advance(60_000)
  await expireTriages(api.services)
  await undo(reopening.id)
  assert.deepEqual([(await only()).state, (await only()).triage_id], ['open', null])
})

test('gates and results of the repository are evaluated again after a triage and its undo', async () => {
  await report([sarifResult('a')])
  const events = async () => {
    const rows = await listJobs(api.services.sql, 'event security.findings.triaged')
    await clearJobs(api.services.sql)
    return rows.map(({ payload }) => payload).filter(({ org_id }) => org_id === caller.orgId)
  }
  const { id } = await dismissed({ finding_ids: [(await only()).id] })
  const expected = [{ org_id: caller.orgId, repository: 'acme/app' }]
  assert.deepEqual(await events(), expected)
  await undo(id)
  assert.deepEqual(await events(), expected)
})

test('reports and dismissals of the same issue at the same time never leave an issue with a wrong status', async () => {
  await report([sarifResult('a')])
  const { issue_id } = await only()
  const uploads = ['one', 'two', 'three', 'four'].map((gitRef) => report([sarifResult('a')], { gitRef }))
  const [answer] = await Promise.all([
    triage({ action: 'dismiss', reason: 'wont_fix', issue_ids: [issue_id] }),
    ...uploads,
  ])
  assert.equal(answer.status, 201)
  const all = await findings()
  assert.equal(all.length, 5)
  assert.deepEqual(new Set(all.map(({ state }: Json) => state)), new Set(['dismissed']))
  assert.equal((await issues())[0]?.status, 'dismissed')
})

test('every triage and undo is audited with the person', async () => {
  await report([sarifResult('a')])
  const { id } = await dismissed({ finding_ids: [(await only()).id], comment: 'Known.' })
  api.clock.advance(1000)
  await undo(id)
  const entries = await api.services.sql`
    select action, principal_type, principal_id, object_type, object_id, reason
    from audit_entries
    where org_id = ${caller.orgId}
      and object_type = 'triage'
    order by id`
  const by = { principal_type: 'user', principal_id: ada.userId, object_type: 'triage', object_id: id }
  assert.deepEqual(
    entries.map((entry) => ({ ...entry })),
    [
      { action: 'triage.dismiss', ...by, reason: 'Known.' },
      { action: 'triage.undo', ...by, reason: null },
    ],
  )
})

test('the list filters by action, status, finding and issue', async () => {
  await report([sarifResult('a'), sarifResult('b', 50)])
  const [one, two] = await findings()
  const first = await dismissed({ finding_ids: [one.id] })
  const second = await dismissed({ issue_ids: [two.issue_id] })
  const third = await triaged({ action: 'reopen', finding_ids: [one.id] })
  await undo(second.id)
  const list = async (query: string) =>
    (await requestAs(api, ada, 'GET', `/security/triage${query}`)).body.data.map(({ id }: Json) => id)
  assert.deepEqual(new Set(await list('')), new Set([third.id, second.id, first.id]))
  assert.deepEqual(await list('?action=reopen'), [third.id])
  assert.deepEqual(await list('?status=undone'), [second.id])
  assert.deepEqual(await list('?status=active&action=dismiss'), [first.id])
  assert.deepEqual(new Set(await list(`?finding_id=${one.id}`)), new Set([first.id, third.id]))
  assert.deepEqual(await list(`?issue_id=${two.issue_id}`), [second.id])
  assert.equal((await list('?limit=1')).length, 1)
})
