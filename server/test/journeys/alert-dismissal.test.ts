import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { type DismissRequest, dismissAlert, settleDismissal } from '../../src/security/alerts/decide-alerts.ts'
import { applyAlert } from '../../src/security/alerts/read-alert.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { type FakeAnswers, fakeCodeHost } from '../support/fake-client.ts'
import { listFindings } from '../support/findings.ts'
import { applyAlerts, codeAlert, connect, listAlerts, newestCall } from '../support/host-alerts.ts'
import { hostAccount } from '../support/host-objects.ts'
import { clearJobs, drainQueue } from '../support/queue.ts'

const ID = 'gh_alert_code_scanning_1001_1'
const LATER = new Date('2026-03-05T10:00:00.000Z')
const LAST = new Date('2026-03-06T10:00:00.000Z')

let own: TestApi
let api: TestApi
let answers: FakeAnswers
let caller: Caller
let source: HostSource

before(async () => {
  own = await startTestApi()
})
after(() => own?.close())
beforeEach(async () => {
  // What the test before has left in the queue.
  await clearJobs(own.services.sql)
  const host = fakeCodeHost()
  answers = host.answers
  api = { ...own, services: { ...own.services, codeHosts: host.codeHosts } }
  caller = await api.caller()
  source = await connect(api, caller)
  await applyAlerts(api, source, codeAlert())
})

/** Dismisses the alert. The call to the host is kept back; `end` ends it. */
async function dismiss(request: Partial<DismissRequest> = {}) {
  const full = { id: ID, reason: 'wont_fix', comment: 'Known.', ...request } as const
  await dismissAlert(api.services, caller.orgId, COMMAND_LINE, full)
  await drainQueue(api, 'codehosts.send-call')
}

/** The call of the dismissal ends, and the host then states this. */
async function end(outcome: 'done' | 'refused' | 'failed', stated: HostAlert, call_id?: string) {
  const callId = call_id ?? (await newestCall(api, caller))
  answers.readAlert = async () => stated
  const call = { org_id: caller.orgId, call_id: callId, subject_type: 'alert', subject_id: ID, outcome }
  await settleDismissal(api.services, call)
  await drainQueue(api)
}

async function shown() {
  const [alert] = await listAlerts(api, caller)
  const [finding] = await listFindings(api, caller)
  assert.equal(finding.state, alert.status, 'the finding shows the status of its alert')
  return [alert.status, alert.dismissal_source, alert.dismissal_delivery]
}

/** The alert as the host states it after it accepted the dismissal. */
function accepted(fields: Partial<HostAlert> = {}): HostAlert {
  const by = hostAccount({ login: 'shiplock[bot]', is_bot: true })
  const dismissal = { by, reason: "won't fix", comment: 'Known.', at: LATER }
  return codeAlert({ status: 'dismissed', dismissal, updated_at: LATER, ...fields })
}

test('a dismissal counts at once, is audited, and is sent to the host with reason and comment', async () => {
  await dismiss()
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  const [alert] = await listAlerts(api, caller)
  assert.deepEqual(
    [alert.dismissed_by, alert.dismissed_by_name, alert.dismiss_reason, alert.dismiss_comment, alert.dismissed_at],
    ['command line', 'command line', 'wont_fix', 'Known.', api.clock.now().toISOString()],
  )
  const [finding] = await listFindings(api, caller)
  assert.deepEqual([finding.dismissal_source, finding.dismiss_reason], ['shiplock', 'wont_fix'])
  const calls = await api.services.sql`
    select subject_type, subject_id, action, connection_id
    from codehost_calls
    where org_id = ${caller.orgId}`
  assert.deepEqual(
    calls.map((call) => ({ ...call })),
    [
      {
        subject_type: 'alert',
        subject_id: ID,
        connection_id: source.connection_id,
        action: {
          type: 'dismissal',
          repository: { id: '1001', full_name: 'acme/shop' },
          alert: { type: 'code_scanning', number: 1 },
          reason: 'wont_fix',
          comment: 'Known.',
        },
      },
    ],
  )
  const [entry] = await api.services.sql`
    select action, object_id, principal_name, reason, details
    from audit_entries
    where org_id = ${caller.orgId}`
  assert.deepEqual(
    { ...entry },
    {
      action: 'alert.dismiss',
      object_id: ID,
      principal_name: 'command line',
      reason: 'Known.',
      details: { reason: 'wont_fix' },
    },
  )
})

test('while the call is pending, no open state of the host reopens the alert, older or newer', async () => {
  await dismiss()
  await applyAlerts(api, source, codeAlert({ severity: 'low', updated_at: LATER }))
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  assert.equal((await listAlerts(api, caller))[0].severity, 'low')
  await applyAlerts(api, source, codeAlert({ status: 'fixed', fixed_at: LAST, updated_at: LAST }))
  assert.deepEqual(await shown(), ['fixed', null, null])
})

test('after the host has accepted it, the dismissal is delivered and stays ours', async () => {
  await dismiss()
  await end('done', accepted())
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'delivered'])
  await applyAlerts(api, source, codeAlert())
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'delivered'])
})

test("the host's own state may arrive before the call has ended", async () => {
  await dismiss()
  await applyAlerts(api, source, accepted())
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  await end('done', accepted())
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'delivered'])
})

test('an alert that is reopened at the host is open, and can be dismissed again', async () => {
  await dismiss()
  const firstCall = await newestCall(api, caller)
  await end('done', accepted(), firstCall)
  const reopened = codeAlert({ updated_at: LAST })
  await applyAlerts(api, source, reopened)
  assert.deepEqual(await shown(), ['open', null, null])
  await dismiss({ reason: 'false_positive' })
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
  await end('done', reopened, firstCall)
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'], 'the first call ended again')
})

test("a dismissal by another person at the host replaces ours, with the host's source", async () => {
  await dismiss()
  const dismissal = { by: hostAccount(), reason: 'false positive', comment: 'Checked.', at: LATER }
  await applyAlerts(api, source, accepted({ dismissal }))
  assert.deepEqual(await shown(), ['dismissed', 'github', null])
  assert.equal((await listAlerts(api, caller))[0].dismissed_by, 'ada')
})

for (const outcome of ['refused', 'failed'] as const) {
  test(`a dismissal whose call ${outcome === 'failed' ? 'failed' : 'was refused'} shows the host's state again`, async () => {
    await dismiss()
    await end(outcome, codeAlert())
    assert.deepEqual(await shown(), ['open', null, 'failed'])
    const dismissal = { by: hostAccount(), reason: 'false positive', comment: null, at: LATER }
    await applyAlerts(api, source, codeAlert({ status: 'dismissed', dismissal, updated_at: LATER }))
    assert.deepEqual(await shown(), ['dismissed', 'github', null])
  })
}

test('after a failed dismissal the alert can be dismissed again', async () => {
  await dismiss()
  await end('failed', codeAlert())
  await dismiss({ comment: null })
  assert.deepEqual(await shown(), ['dismissed', 'shiplock', 'pending'])
})

test('a dismissal is refused for an unknown or closed alert, a long comment and an unconnected repository', async () => {
  await assert.rejects(dismiss({ id: 'gh_alert_code_scanning_1001_9' }), { status: 404 })
  await assert.rejects(dismiss({ comment: 'x'.repeat(281) }), { status: 400 })
  await dismiss({ comment: 'x'.repeat(280) })
  await assert.rejects(dismiss(), { status: 409, code: 'not_open' })
  await applyAlerts(api, source, codeAlert({ number: 2 }))
  await api.services.sql`
    update codehost_connections
    set status = 'removed'
    where org_id = ${caller.orgId}`
  await assert.rejects(dismiss({ id: 'gh_alert_code_scanning_1001_2' }), { status: 409, code: 'not_connected' })
  const { sql } = api.services
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*) as count
    from codehost_calls
    where org_id = ${caller.orgId}`
  assert.equal(count, 1)
})

test('two dismissals at the same time send one call', async () => {
  const request = { id: ID, reason: 'wont_fix', comment: null } as const
  const tries = await Promise.allSettled(
    [1, 2, 3].map(() => dismissAlert(api.services, caller.orgId, COMMAND_LINE, request)),
  )
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('dismissals and pages of alerts at the same time do not wait for each other forever', async () => {
  const numbers = Array.from({ length: 12 }, (_, index) => index + 2)
  await applyAlerts(api, source, ...numbers.map((number) => codeAlert({ number })))
  const page = (hour: number) =>
    api.services.sql.begin(async (tx) => {
      const updated_at = new Date(LATER.getTime() + hour)
      for (const number of numbers) await applyAlert(api.services, tx, source, codeAlert({ number, updated_at }))
    })
  const ids = numbers.map((number) => `gh_alert_code_scanning_1001_${number}`)
  const dismissals = ids.map((id) =>
    dismissAlert(api.services, caller.orgId, COMMAND_LINE, { id, reason: 'wont_fix', comment: null }),
  )
  await Promise.all([page(1), page(2), ...dismissals, page(3)])
  await drainQueue(api, 'codehosts.send-call')
  const dismissed = (await listAlerts(api, caller)).filter(({ status }: { status: string }) => status === 'dismissed')
  assert.equal(dismissed.length, numbers.length)
})

test('an alert of another organization cannot be dismissed', async () => {
  const stranger = await api.caller()
  const request = { id: ID, reason: 'wont_fix', comment: null } as const
  await assert.rejects(dismissAlert(api.services, stranger.orgId, COMMAND_LINE, request), { status: 404 })
})
