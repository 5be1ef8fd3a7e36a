import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { HostUnavailable } from '../../src/codehosts/code-host.ts'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import {
  applyAlert,
  applyAlertChange,
  readAlertJob,
  renameAlertRepository,
} from '../../src/security/alerts/read-alert.job.ts'
import { reconcileAlertsJob } from '../../src/security/alerts/reconcile-alerts.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { listFindings, rowVersions } from '../support/findings.ts'
import { applyAlerts, codeAlert, connect, dependencyAlert, listAlerts, secretAlert } from '../support/host-alerts.ts'
import { hostAccount, hostRepository } from '../support/host-objects.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const HOUR_MS = 3_600_000
const START = Date.parse('2026-03-02T10:00:00.000Z')

/**
 * Versions of a few alerts, some with equal times, as a host and its late deliveries state them.
 */
const versions = fc.array(
  fc
    .record({
      number: fc.integer({ min: 1, max: 3 }),
      hour: fc.integer({ min: 0, max: 4 }),
      status: fc.constantFrom('open', 'dismissed', 'fixed'),
      severity: fc.constantFrom('high', 'low'),
      ref: fc.constantFrom('refs/heads/main', 'refs/heads/next'),
      line: fc.option(fc.integer({ min: 1, max: 20 })),
    })
    .map(versionOf),
  { minLength: 1, maxLength: 8 },
)

type Version = {
  number: number
  hour: number
  status: 'open' | 'dismissed' | 'fixed'
  severity: 'high' | 'low'
  ref: string
  line: number | null
}

function versionOf({ number, hour, status, severity, ref, line }: Version): HostAlert {
  const at = new Date(START + hour * HOUR_MS)
  const make = [codeAlert, dependencyAlert, (fields: Partial<HostAlert>) => secretAlert('ghp_0123456789', fields)][
    number - 1
  ]
  const place = { path: 'src/db.js', start_line: line, end_line: line, start_column: null, end_column: null }
  return (make as typeof codeAlert)({
    number,
    status,
    severity,
    git_ref: ref,
    location: line === null ? null : place,
    fixed_at: status === 'fixed' ? at : null,
    dismissal: status === 'dismissed' ? { by: hostAccount(), reason: 'wont_fix', comment: null, at } : null,
    updated_at: at,
  })
}

/** What the API shows of alerts and findings, without what the database numbers. */
async function shown(caller: Caller) {
  const alerts = (await listAlerts(api, caller)).map(
    ({ org_id, issue_id, finding_id, ...alert }: Record<string, string>) => alert,
  )
  const findings = (await listFindings(api, caller)).map(
    ({ id, issue_id, identity, intel_at_detection, grouping_reason, ...finding }) => ({
      ...finding,
      grouping: grouping_reason.code,
    }),
  )
  const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  return { alerts: alerts.sort(byText), findings: findings.sort(byText) }
}

async function applied(alerts: readonly HostAlert[], drainAfter: ReadonlySet<number>) {
  const caller = await api.caller()
  const source = await connect(api, caller)
  for (const [index, alert] of alerts.entries()) {
    await api.services.sql.begin((tx) => applyAlert(api.services, tx, source, alert))
    if (drainAfter.has(index)) await drainQueue(api)
  }
  await drainQueue(api)
  return shown(caller)
}

test('alerts and findings do not depend on the order of events, on repeated events, or on when jobs run', async () => {
  const shuffled = versions.chain((events) =>
    fc.record({
      events: fc.constant(events),
      // Every event once, some of them again, in any order.
      arrival: fc
        .subarray(events)
        .chain((again) => fc.shuffledSubarray([...events, ...again], { minLength: events.length + again.length })),
      drains: fc.uniqueArray(fc.nat({ max: 15 }), { maxLength: 4 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(shuffled, async ({ events, arrival, drains }) => {
      assert.deepEqual(await applied(arrival, new Set(drains)), await applied(events, new Set()))
    }),
    { numRuns: 25 },
  )
})

test('lost older events change nothing: the newest version of an alert alone decides', async () => {
  await fc.assert(
    fc.asyncProperty(versions, async (events) => {
      const newest = [...Map.groupBy(events, ({ number }) => number).values()].map((ofAlert) => {
        const last = Math.max(...ofAlert.map(({ updated_at }) => updated_at.getTime()))
        return ofAlert.filter(({ updated_at }) => updated_at.getTime() === last)
      })
      const [all, few] = [await applied(events, new Set([0, 2])), await applied(newest.flat(), new Set())]
      assert.deepEqual(all.alerts, few.alerts)
    }),
    { numRuns: 15 },
  )
})

test('simultaneous events of the same alerts are applied as one after the other, without a deadlock', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const numbers = [1, 2, 3, 4, 5, 6]
  const pages = Array.from({ length: 8 }, (_, page) => {
    const updated_at = new Date(START + page * HOUR_MS)
    const alerts = numbers.map((number) => codeAlert({ number, title: `Version ${page}`, updated_at }))
    return page % 2 === 0 ? alerts : alerts.reverse()
  })
  const apply = (alerts: HostAlert[]) =>
    api.services.sql.begin(async (tx) => {
      for (const alert of alerts) await applyAlert(api.services, tx, source, alert)
    })
  await Promise.all(pages.map(apply))
  await drainQueue(api)
  const titles = (await listAlerts(api, caller)).map(({ title }: { title: string }) => title)
  assert.deepEqual(
    titles,
    numbers.map(() => 'Version 7'),
  )
  assert.equal((await listFindings(api, caller)).length, numbers.length)
})

test('jobs of one repository, events and a report at the same time end in one finding for each alert', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const repository = { org_id: caller.orgId, provider: 'github', repository_id: '1001' }
  const tell = (number: number, hour: number) => {
    const alert = codeAlert({ number, updated_at: new Date(START + hour * HOUR_MS) })
    return api.services.sql.begin((tx) => applyAlert(api.services, tx, source, alert))
  }
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
  await Promise.all(numbers.map((number) => tell(number, 0)))
  await Promise.all([
    reconcileAlertsJob.run(api.services, repository),
    uploadReport(api, caller, sarif([sarifResult('a')], 'CodeQL'), { repository: 'acme/shop', provider: 'github' }),
    ...numbers.map((number) => tell(number, 1)),
    reconcileAlertsJob.run(api.services, repository),
  ])
  await drainQueue(api)
  const findings = await listFindings(api, caller)
  const seen = findings.filter(({ origin }) => origin === 'alert').map(({ last_seen_at }) => last_seen_at)
  assert.equal(findings.length, numbers.length + 1)
  assert.deepEqual(
    seen,
    numbers.map(() => new Date(START + HOUR_MS).toISOString()),
  )
})

test('a repeated event writes no finding', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await applyAlerts(api, source, codeAlert())
  const before = await rowVersions(api, caller)
  await applyAlerts(api, source, codeAlert(), codeAlert({ severity: 'low', updated_at: new Date(START - 1) }))
  assert.deepEqual(await rowVersions(api, caller), before)
})

test('an event without all fields is read from the host, else from its list; an alert that is gone there is fixed', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const host = fakeCodeHost({ readAlert: async (_, { type, number }) => codeAlert({ type, number }) })
  const connected = { ...api, services: { ...api.services, codeHosts: host.codeHosts } }
  const change = { repository: hostRepository(), type: 'code_scanning', number: 5 } as const
  const tell = async () => {
    await api.services.sql.begin((tx) => applyAlertChange(connected.services, tx, source, change))
    await drainQueue(connected)
  }
  await tell()
  assert.deepEqual(
    (await listAlerts(api, caller)).map(({ id, status }: Record<string, string>) => [id, status]),
    [['gh_alert_code_scanning_1001_5', 'open']],
  )
  host.answers.readAlert = async () => null
  const listed = codeAlert({ number: 5, severity: 'low', updated_at: new Date(START + HOUR_MS) })
  host.answers.listAlerts = async () => ({ items: [listed], next: null, etag: null })
  await tell()
  assert.deepEqual(
    [(await listAlerts(api, caller))[0].severity, (await listAlerts(api, caller))[0].status],
    ['low', 'open'],
  )
  host.answers.listAlerts = async () => ({ items: [], next: null, etag: null })
  await tell()
  assert.equal((await listAlerts(api, caller))[0].status, 'open', 'the list may not be read')
  host.answers.listAlerts = async () => ({ items: [], next: null, etag: '"1"' })
  await tell()
  assert.deepEqual(
    [(await listAlerts(api, caller))[0].status, (await listFindings(api, caller))[0].state],
    ['fixed', 'fixed'],
  )
  host.answers.readAlert = async () => {
    throw new HostUnavailable('The host is away')
  }
  const payload = { org_id: caller.orgId, provider: 'github', repository_id: '1001', type: 'code_scanning', number: 5 }
  await assert.rejects(readAlertJob.run(connected.services, payload as never), HostUnavailable)
})

test('a secret that is revoked and opened again in one second is open, and a read that took longer does not fix it', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const fields = { number: 5, updated_at: new Date(START) }
  const revoked = secretAlert('ghp_0123456789', { ...fields, status: 'fixed', fixed_at: new Date(START) })
  // A list leaves out what a read of the alert contains.
  const open = secretAlert('ghp_0123456789', { ...fields, url: null })
  const readAt = (ms: number) => ({ ...source, learned: { by: 'read', at: new Date(START + ms) } }) as const
  const apply = (at: number, alert: HostAlert) =>
    api.services.sql.begin((tx) => applyAlert(api.services, tx, readAt(at), alert))
  const shownStatus = async () => (await listAlerts(api, caller))[0].status
  await apply(100, revoked)
  assert.equal(await shownStatus(), 'fixed')
  await apply(300, open)
  assert.equal(await shownStatus(), 'open')
  await apply(200, revoked)
  assert.equal(await shownStatus(), 'open')
  await apply(500, open)
  await apply(400, revoked)
  assert.equal(await shownStatus(), 'open', 'the state was read again after that')
  await apply(600, secretAlert('ghp_0123456789', fields))
  assert.notEqual((await listAlerts(api, caller))[0].github_alert_url, null)
  await drainQueue(api)
  assert.equal((await listFindings(api, caller))[0].state, 'open')
})

test('an alert of a suspended connection is not read', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await api.services.sql`update codehost_connections set status = 'suspended' where org_id = ${caller.orgId}`
  const host = fakeCodeHost()
  const connected = { ...api, services: { ...api.services, codeHosts: host.codeHosts } }
  const change = { repository: hostRepository(), type: 'code_scanning', number: 5 } as const
  await api.services.sql.begin((tx) => applyAlertChange(connected.services, tx, source, change))
  await drainQueue(connected)
  assert.deepEqual(await listAlerts(api, caller), [])
})

test('a renamed repository is renamed on alerts and findings, and an older name does not return', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await applyAlerts(api, source, codeAlert())
  await api.services.sql`update repositories set full_name = 'acme/store' where org_id = ${caller.orgId}`
  await renameAlertRepository(api.services, { org_id: caller.orgId, provider: 'github', repository_id: '1001' })
  await applyAlerts(api, source, codeAlert({ number: 2 }))
  const names = [...(await listAlerts(api, caller)), ...(await listFindings(api, caller))]
  assert.deepEqual(
    names.map(({ repository }) => repository),
    names.map(() => 'acme/store'),
  )
})

test('alerts with the same numbers in two organizations do not mix', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  await applyAlerts(api, await connect(api, one), codeAlert({ title: 'One' }))
  await applyAlerts(api, await connect(api, other), codeAlert({ title: 'Other' }))
  for (const [caller, title] of [
    [one, 'One'],
    [other, 'Other'],
  ] as const) {
    assert.deepEqual(
      (await listAlerts(api, caller)).map((alert: { title: string }) => alert.title),
      [title],
    )
    assert.deepEqual(
      (await listFindings(api, caller)).map((finding) => finding.title),
      [title],
    )
  }
})
