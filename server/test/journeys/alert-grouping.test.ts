import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import { applyAlert } from '../../src/security/alerts/read-alert.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { applyAlerts, codeAlert, connect } from '../support/host-alerts.ts'
import { listIssues } from '../support/issues.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'

const REPORT = readFileSync(new URL('../fixtures/sarif/codeql.sarif', import.meta.url))
const REPOSITORY = { repository: 'acme/shop', provider: 'github' }
const RESULTS = 72

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

type Region = { startLine: number; endLine?: number; startColumn?: number; endColumn?: number }
type Result = {
  ruleId: string
  message: { text: string }
  locations: [{ physicalLocation: { artifactLocation: { uri: string }; region: Region } }]
}

/** The alerts of the report's results as the code host lists them, `shift` lines further down. */
function alertsOf(report: Buffer, shift = 0): HostAlert[] {
  const { results } = JSON.parse(report.toString()).runs[0] as { results: Result[] }
  return results.map(({ ruleId, message, locations: [{ physicalLocation }] }, index) => {
    const { startLine, endLine = startLine, startColumn = 1, endColumn = 1 } = physicalLocation.region
    const location = {
      path: physicalLocation.artifactLocation.uri,
      start_line: startLine + shift,
      end_line: endLine + shift,
      start_column: startColumn,
      end_column: endColumn,
    }
    return codeAlert({ number: index + 1, rule_id: ruleId, description: message.text, cwes: [], location })
  })
}

/** The places of an issue's findings, by issue. */
async function placesByIssue(caller: Caller) {
  const findings = await listFindings(api, caller)
  return Map.groupBy(findings, ({ issue_id }) => issue_id)
}

test('every result of a real CodeQL report is one issue with the alert of the same result', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await uploadReport(api, caller, REPORT, REPOSITORY)
  await applyAlerts(api, source, ...alertsOf(REPORT))
  const issues = [...(await placesByIssue(caller)).values()]
  assert.equal(issues.length, RESULTS)
  for (const findings of issues) {
    const places = findings.map(({ rule_id, location: { path, start_line } }) => `${rule_id} ${path} ${start_line}`)
    assert.deepEqual([findings.map(({ origin }) => origin).sort(), new Set(places).size], [['alert', 'upload'], 1])
  }
})

test('alerts on other lines of the same files are issues of their own', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await uploadReport(api, caller, REPORT, REPOSITORY)
  await applyAlerts(api, source, ...alertsOf(REPORT, 10_000))
  assert.equal((await listIssues(api, caller)).length, 2 * RESULTS)
})

test('alerts of other rules at the same lines are issues of their own', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  await uploadReport(api, caller, REPORT, REPOSITORY)
  const others = alertsOf(REPORT).map((alert) => ({ ...alert, rule_id: `${alert.rule_id}-other` }))
  await applyAlerts(api, source, ...others)
  assert.equal((await listIssues(api, caller)).length, 2 * RESULTS)
})

test('10,000 alerts of a repository become findings, and one change writes one finding', async () => {
  const caller = await api.caller()
  const source = await connect(api, caller)
  const alerts = Array.from({ length: 10_000 }, (_, index) => {
    const line = (index % 100) * 10
    const location = { path: `src/${index % 97}.js`, start_line: line, end_line: line, start_column: 1, end_column: 9 }
    return codeAlert({ number: index + 1, location })
  })
  for (let from = 0; from < alerts.length; from += 100) {
    await api.services.sql.begin(async (tx) => {
      for (const alert of alerts.slice(from, from + 100)) await applyAlert(api.services, tx, source, alert)
    })
  }
  await drainQueue(api)
  const { sql } = api.services
  const countAt = async (at: Date) => {
    const [row] = await sql<[{ all: number; written: number }]>`
      select count(*) as all, count(*) filter (where updated_at = ${at}) as written
      from findings
      where org_id = ${caller.orgId}`
    return [row.all, row.written]
  }
  assert.deepEqual(await countAt(api.clock.now()), [10_000, 10_000])
  api.clock.advance(1000)
  const [first] = alerts as [HostAlert]
  await applyAlerts(api, source, { ...first, status: 'fixed', fixed_at: api.clock.now(), updated_at: api.clock.now() })
  assert.deepEqual(await countAt(api.clock.now()), [10_000, 1])
})
