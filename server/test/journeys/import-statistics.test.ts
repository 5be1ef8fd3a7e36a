import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { applyAlert } from '../../src/security/alerts/read-alert.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { codeAlert, connect } from '../support/host-alerts.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { placedResult, sarif } from '../support/sarif.ts'
import { executedBy } from '../support/statement-work.ts'
import { disableAutovacuum } from '../support/unanalysed.ts'

/** Findings of an import, and how many rows a statement may handle for each of them. */
const FINDINGS = 1000
const ROWS_PER_FINDING_MAX = 60

const FILES = 23
const REPOSITORY = { repository: 'acme/shop', provider: 'github' }

type Import = { api: TestApi; caller: Caller; source: HostSource }

async function newImport(api: TestApi): Promise<Import> {
  const caller = await api.caller()
  return { api, caller, source: await connect(api, caller) }
}

function alertsOf(count: number): HostAlert[] {
  return Array.from({ length: count }, (_, index) => {
    const line = index * 10
    const path = `src/${index % FILES}.js`
    return codeAlert({
      number: index + 1,
      location: { path, start_line: line, end_line: line, start_column: 1, end_column: 9 },
    })
  })
}

/** A report of so many results from this one on, `shift` lines further down. */
function reportOf(count: number, { shift = 0, from = 0 } = {}) {
  const numbers = Array.from({ length: count }, (_, index) => from + index)
  return sarif(
    numbers.map((number) =>
      placedResult({
        rule: `R${number % 7}`,
        file: `src/${number % FILES}.js`,
        line: Math.floor(number / FILES) * 10 + 1 + shift,
        snippet: `code ${number}`,
        message: `Bad ${number}`,
      }),
    ),
  )
}

/**
 * Applies alerts in one transaction, and runs the jobs that they cause with the services of `by`.
 */
async function applyTogether({ api, source }: Import, alerts: readonly HostAlert[], by = api): Promise<void> {
  await api.services.sql.begin(async (tx) => {
    for (const alert of alerts) await applyAlert(api.services, tx, source, alert)
  })
  await drainQueue(by)
}

function fixed(alerts: readonly HostAlert[], { clock }: TestApi): HostAlert[] {
  const at = clock.now()
  return alerts.map((alert) => ({ ...alert, status: 'fixed', fixed_at: at, updated_at: at }))
}

/** `by` has the services to run jobs with. */
type Step = [title: string, run: (target: Import, by: TestApi) => Promise<unknown>]

const upload = (report: object, options = {}): Step[1] => {
  return ({ caller }, by) => uploadReport(by, caller, report, { ...REPOSITORY, ...options })
}

const ALERTS = alertsOf(FINDINGS)
const STEPS: Step[] = [
  ['alerts', (target, by) => applyTogether(target, ALERTS, by)],
  ['a change of one alert', (target, by) => applyTogether(target, fixed(ALERTS.slice(0, 1), by), by)],
  ['a change of all alerts', (target, by) => applyTogether(target, fixed(ALERTS, by), by)],
  ['a report', upload(reportOf(FINDINGS))],
  ['a report with moved findings', upload(reportOf(FINDINGS, { shift: 3 }))],
  ['a report without half of the findings', upload(reportOf(FINDINGS / 2, { shift: 4 }))],
  ['a report with other findings', upload(reportOf(FINDINGS / 2, { shift: 4, from: FINDINGS / 4 }))],
  ['a report with fixed findings', upload(reportOf(FINDINGS, { shift: 6 }))],
  ['a report of another branch', upload(reportOf(FINDINGS, { shift: 7 }), { gitRef: 'refs/heads/next' })],
  ['a tracked report of it', upload(reportOf(FINDINGS, { shift: 8 }), { gitRef: 'refs/heads/next', tracked: true })],
]

/** An import of so few findings by an organization, as the tables had before they were analysed. */
async function importFew(target: Import, count: number): Promise<void> {
  await applyTogether(target, alertsOf(count))
  await upload(reportOf(count))(target, target.api)
}

const analyse = ({ services: { sql } }: TestApi) => sql`analyze`

/** Prepares the statistics, and returns the organization that imports. */
type Statistics = [title: string, prepare: (api: TestApi) => Promise<Import>, always?: true]

const STATISTICS: Statistics[] = [
  ['nothing was analysed', newImport],
  ['everything was analysed after each step', newImport, true],
  [
    'the tables were analysed when they were almost empty',
    async (api) => {
      const target = await newImport(api)
      await importFew(target, 3)
      await analyse(api)
      return target
    },
  ],
  [
    'the tables were analysed when only another organization had a few rows',
    async (api) => {
      await importFew(await newImport(api), 3)
      await analyse(api)
      return newImport(api)
    },
  ],
  [
    'the tables were analysed when only another organization had many rows',
    async (api) => {
      await importFew(await newImport(api), FINDINGS / 2)
      await analyse(api)
      return newImport(api)
    },
  ],
]

for (const [title, prepare, always] of STATISTICS) {
  test(`where ${title}, an import handles a bounded number of rows for each finding`, async (context) => {
    const api = await startTestApi()
    context.after(() => api.close())
    await disableAutovacuum(api)
    const target = await prepare(api)
    for (const [step, run] of STEPS) {
      api.clock.advance(1000)
      const statements = await executedBy(api, (by) => run(target, by))
      assert.ok(statements.length > 0, step)
      for (const { rows, text } of statements) {
        assert.ok(rows <= ROWS_PER_FINDING_MAX * FINDINGS, `${step}: ${rows} rows are handled by ${text}`)
      }
      if (always) await analyse(api)
    }
  })
}
