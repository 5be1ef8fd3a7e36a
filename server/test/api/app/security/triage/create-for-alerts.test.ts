import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { HostAction } from '../../../../../src/codehosts/code-host.ts'
import type { HostAlert } from '../../../../../src/codehosts/host-alert.ts'
import type { HostSource } from '../../../../../src/codehosts/host-event.ts'
import { updateOrganizationRules } from '../../../../../src/organizations/organization.ts'
import { settleDismissal } from '../../../../../src/security/alerts/decide-alerts.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { type FakeAnswers, fakeCodeHost } from '../../../../support/fake-client.ts'
import { listFindings } from '../../../../support/findings.ts'
import { applyAlerts, codeAlert, connect, listAlerts, newestCall } from '../../../../support/host-alerts.ts'
import { hostAccount } from '../../../../support/host-objects.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { clearJobs, drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { placedResult, sarif } from '../../../../support/sarif.ts'

const ID = 'gh_alert_code_scanning_1001_1'
const LATER = new Date('2026-03-05T10:00:00.000Z')

let own: TestApi
let api: TestApi
let answers: FakeAnswers
let caller: Caller
let source: HostSource
let ada: Person

before(async () => {
  own = await startTestApi()
})
after(() => own?.close())
beforeEach(async () => {
  await clearJobs(own.services.sql)
  const host = fakeCodeHost()
  answers = host.answers
  api = { ...own, services: { ...own.services, codeHosts: host.codeHosts } }
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'security' })
  source = await connect(api, caller)
  await applyAlerts(api, source, codeAlert())
})

async function triaged(body: Json): Promise<Json> {
  const answer = await requestAs(api, ada, 'POST', '/security/triage', body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}
const dismiss = (target: Json) => triaged({ action: 'dismiss', reason: 'risk_accepted', comment: 'Known.', ...target })
const undo = (id: string) => requestAs(api, ada, 'POST', `/security/triage/${id}/undo`)

const atHost = (comment: string) => ({ by: hostAccount(), reason: 'false positive', comment, at: LATER })
const dismissedAtHost = (fields: Partial<HostAlert> = {}) =>
  codeAlert({ status: 'dismissed', dismissal: atHost('Checked.'), updated_at: LATER, ...fields })

/** The host states this of the alert, in an event and when it is asked. */
async function arrives(alert: HostAlert): Promise<void> {
  answers.readAlert = async () => alert
  await applyAlerts(api, source, alert)
}

async function statuses(): Promise<unknown[]> {
  const [alert] = await listAlerts(api, caller)
  const [finding] = await listFindings(api, caller)
  const { body } = await api.request('GET', '/v1/security/issues', { key: caller.key })
  return [alert.status, finding.state, body.data[0].status, alert.proposed_dismissal?.by ?? null]
}

test('with host_dismissals propose, a dismissal at the host is shown and counts once a person dismisses the alert', async () => {
  await updateOrganizationRules(api.services, caller.slug, { host_dismissals: 'propose' })
  await arrives(dismissedAtHost())
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'ada'])
  const [alert] = await listAlerts(api, caller, '?status=open')
  assert.deepEqual(alert.proposed_dismissal, {
    by: 'ada',
    by_name: alert.proposed_dismissal.by_name,
    reason: 'false positive',
    comment: 'Checked.',
    at: LATER.toISOString(),
  })
  assert.deepEqual([alert.dismissed_by, alert.dismissal_source, alert.dismissal_delivery], [null, null, null])
  const again = new Date(LATER.getTime() + 60_000)
  await arrives(dismissedAtHost({ dismissal: atHost('Sure.'), updated_at: again }))
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'ada'], 'to say it twice is not enough')
  await dismiss({ alert_ids: [ID] })
  assert.deepEqual(await statuses(), ['dismissed', 'dismissed', 'dismissed', null])
  const reopened = new Date(LATER.getTime() + 120_000)
  await arrives(codeAlert({ updated_at: reopened }))
  await arrives(dismissedAtHost({ updated_at: new Date(reopened.getTime() + 60_000) }))
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'ada'], 'an old confirmation confirms nothing new')
})

test('what counted before host_dismissals was changed stays; a proposal ends when the host reopens or fixes the alert', async () => {
  await arrives(dismissedAtHost())
  await updateOrganizationRules(api.services, caller.slug, { host_dismissals: 'propose' })
  const minutes = (count: number) => new Date(LATER.getTime() + count * 60_000)
  await arrives(dismissedAtHost({ severity: 'low', updated_at: minutes(1) }))
  assert.deepEqual(await statuses(), ['dismissed', 'dismissed', 'dismissed', null])
  await arrives(codeAlert({ updated_at: minutes(2) }))
  await arrives(dismissedAtHost({ updated_at: minutes(3) }))
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'ada'])
  await updateOrganizationRules(api.services, caller.slug, { host_dismissals: 'accept' })
  await arrives(dismissedAtHost({ updated_at: minutes(4) }))
  assert.deepEqual(await statuses(), ['open', 'open', 'open', 'ada'], 'what was proposed waits')
  await arrives(codeAlert({ updated_at: minutes(5) }))
  assert.deepEqual(await statuses(), ['open', 'open', 'open', null])
  await arrives(dismissedAtHost({ updated_at: minutes(6) }))
  assert.deepEqual(await statuses(), ['dismissed', 'dismissed', 'dismissed', null])
  await updateOrganizationRules(api.services, caller.slug, { host_dismissals: 'propose' })
  await arrives(codeAlert({ status: 'fixed', fixed_at: minutes(7), updated_at: minutes(7) }))
  await arrives(dismissedAtHost({ updated_at: minutes(8) }))
  await arrives(codeAlert({ status: 'fixed', fixed_at: minutes(9), updated_at: minutes(9) }))
  assert.deepEqual(await statuses(), ['fixed', 'fixed', 'fixed', null])
})

test('a person who undoes a dismissal of a proposal has the alert open again, and an own dismissal is no proposal', async () => {
  await updateOrganizationRules(api.services, caller.slug, { host_dismissals: 'propose' })
  const { id } = await dismiss({ alert_ids: [ID] })
  await arrives(dismissedAtHost({ dismissal: atHost('Known, as the host has it.') }))
  assert.deepEqual(await statuses(), ['dismissed', 'dismissed', 'dismissed', null])
  assert.equal((await undo(id)).status, 200)
  assert.deepEqual((await statuses()).slice(0, 3), ['open', 'open', 'open'])
})

async function calls(): Promise<HostAction[]> {
  const rows = await api.services.sql<{ action: HostAction }[]>`
    select action
    from codehost_calls
    where org_id = ${caller.orgId}
    order by number`
  return rows.map(({ action }) => action)
}

/** The newest call ends, and the host then states this. */
async function end(outcome: 'done' | 'failed', stated: HostAlert) {
  answers.readAlert = async () => stated
  const ended = {
    org_id: caller.orgId,
    call_id: await newestCall(api, caller),
    subject_type: 'alert',
    subject_id: ID,
    outcome,
  } as const
  await settleDismissal(api.services, ended)
  await drainQueue(api, 'codehosts.send-call')
}

async function shown() {
  const [alert] = await listAlerts(api, caller)
  const [finding] = await listFindings(api, caller)
  const [issue] = (await requestAs(api, ada, 'GET', '/security/issues')).body.data
  assert.deepEqual([finding.state, issue.status], [alert.status, alert.status])
  return [alert.status, alert.dismissal_source, alert.dismissal_delivery]
}

function statedDismissed(fields: Partial<HostAlert> = {}): HostAlert {
  const by = hostAccount({ login: 'shiplock[bot]', is_bot: true })
  const dismissal = { by, reason: "won't fix", comment: 'Known.', at: LATER }
  return codeAlert({ status: 'dismissed', dismissal, updated_at: LATER, ...fields })
}

test('a dismissed issue dismisses its alert, its finding and itself at once, before any job has run', async () => {
  const [{ issue_id }] = await listFindings(api, caller)
  const triage = await dismiss({ issue_ids: [issue_id] })
  assert.deepEqual([triage.alert_count, triage.finding_count], [1, 0])
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  const [alert] = await listAlerts(api, caller)
  assert.deepEqual([alert.dismissed_by_name, alert.dismiss_reason], ['Ada Lovelace', 'risk_accepted'])
  assert.deepEqual(await calls(), [
    {
      type: 'dismissal',
      repository: { id: '1001', full_name: 'acme/shop' },
      alert: { type: 'code_scanning', number: 1 },
      reason: 'risk_accepted',
      comment: 'Known.',
    },
  ])
  await drainQueue(api, 'codehosts.send-call')
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
})

test('undo reopens the alert on its code host', async () => {
  const { id } = await dismiss({ alert_ids: [ID] })
  await end('done', statedDismissed())
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'delivered'])
  assert.equal((await undo(id)).status, 200)
  assert.deepEqual(await shown(), ['open', null, 'pending'])
  assert.deepEqual((await calls())[1], {
    type: 'reopening',
    repository: { id: '1001', full_name: 'acme/shop' },
    alert: { type: 'code_scanning', number: 1 },
  })
  await end('done', codeAlert({ updated_at: new Date('2026-03-06T10:00:00.000Z') }))
  assert.deepEqual(await shown(), ['open', null, null])
})

test('the end of the call of a dismissal that was undone does not end the reopening', async () => {
  const { id } = await dismiss({ alert_ids: [ID] })
  const [first] = await api.services.sql<[{ id: string }]>`
    select id
    from codehost_calls
    where org_id = ${caller.orgId}`
  await undo(id)
  await drainQueue(api, 'codehosts.send-call')
  answers.readAlert = async () => statedDismissed()
  const call = {
    org_id: caller.orgId,
    call_id: first.id,
    subject_type: 'alert',
    subject_id: ID,
    outcome: 'done',
  } as const
  await settleDismissal(api.services, call)
  await applyAlerts(api, source, statedDismissed())
  await drainQueue(api, 'codehosts.send-call')
  assert.deepEqual(await shown(), ['open', null, 'pending'])
})

test('an alert that somebody dismissed on the code host is reopened, and undo dismisses it with the same reason', async () => {
  const dismissal = { by: hostAccount(), reason: 'false positive', comment: 'Checked.', at: LATER }
  await applyAlerts(api, source, statedDismissed({ dismissal }))
  const { id } = await triaged({ action: 'reopen', alert_ids: [ID] })
  assert.deepEqual(await shown(), ['open', null, 'pending'])
  await undo(id)
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  const [, second] = await calls()
  assert.deepEqual(second?.type === 'dismissal' && [second.reason, second.comment], ['false positive', 'Checked.'])
})

test('if the code host refuses the dismissal, finding and issue are open again', async () => {
  await dismiss({ finding_ids: [(await listFindings(api, caller))[0].id] })
  await end('failed', codeAlert())
  assert.deepEqual(await shown(), ['open', null, 'failed'])
})

test('409 not_connected for an alert of a repository that is not connected; its finding can still be dismissed', async () => {
  await api.services.sql`
    update codehost_connections
    set status = 'removed'
    where org_id = ${caller.orgId}`
  const body = { action: 'dismiss', reason: 'wont_fix', alert_ids: [ID] }
  assertError(await requestAs(api, ada, 'POST', '/security/triage', body), 409, 'not_connected')
  const [{ id }] = await listFindings(api, caller)
  const triage = await dismiss({ finding_ids: [id] })
  assert.deepEqual([triage.alert_count, triage.finding_count], [0, 1])
  const [finding] = await listFindings(api, caller)
  assert.deepEqual([finding.state, finding.dismissal_source], ['dismissed', 'shiplock'])
  await applyAlerts(api, source, codeAlert({ updated_at: LATER }))
  assert.equal((await listFindings(api, caller))[0].state, 'dismissed')
})

test('404 for an alert that does not exist, and 409 not_open for one that is dismissed', async () => {
  const refused = (id: string) =>
    requestAs(api, ada, 'POST', '/security/triage', { action: 'dismiss', reason: 'wont_fix', alert_ids: [id] })
  assertError(await refused('gh_alert_code_scanning_1001_9'), 404, 'not_found')
  await dismiss({ alert_ids: [ID] })
  assertError(await refused(ID), 409, 'not_open')
})

test('1,000 alerts are dismissed in one request, each with its call', async () => {
  const numbers = Array.from({ length: 1000 }, (_, index) => index + 1)
  await applyAlerts(api, source, ...numbers.slice(1).map((number) => codeAlert({ number })))
  await dismiss({ alert_ids: numbers.map((number) => `gh_alert_code_scanning_1001_${number}`) })
  assert.equal((await calls()).length, 1000)
})

test('a finding of a report that joins the issue of a dismissed alert is dismissed with it', async () => {
  const [{ issue_id }] = await listFindings(api, caller)
  const { id } = await dismiss({ issue_ids: [issue_id] })
  await uploadReport(api, caller, sarif([placedResult(SAME)], 'CodeQL'), {
    repository: 'acme/shop',
    provider: 'github',
  })
  const all = await listFindings(api, caller)
  assert.deepEqual(
    new Set(all.map((finding: Json) => `${finding.issue_id} ${finding.state}`)),
    new Set([`${issue_id} dismissed`]),
  )
  assert.equal(all.find(({ origin }: Json) => origin === 'upload').triage_id, id)
  await undo(id)
  assert.deepEqual(
    (await listFindings(api, caller)).map(({ state }: Json) => state),
    ['open', 'open'],
  )
})

/** The place of `codeAlert` as CodeQL reports it. */
const SAME = {
  rule: 'js/sql-injection',
  file: 'src/db.js',
  line: 11,
  message: 'This query depends on a user-provided value.',
}
