import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { applyAlert } from '../../src/security/alerts/apply-alert.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { applyAlerts, codeAlert, connect } from '../support/host-alerts.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { placedResult, sarif } from '../support/sarif.ts'
import { executedBy } from '../support/statement-work.ts'
import { disableAutovacuum } from '../support/unanalysed.ts'

const ROWS = Number(process.env.ROWS ?? 2400)

async function measure(api: TestApi, name: string, use: (api: TestApi) => Promise<unknown>) {
  const at = performance.now()
  const ex = await executedBy(api, use)
  console.log(name, Math.round(performance.now() - at), 'ms', ex.length)
  for (const e of ex
    .filter((x) => x.rows > ROWS * Number(process.env.F ?? 60))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, 8)) {
    console.log('   ', e.rows, e.text.replace(/\s+/g, ' ').slice(0, 200))
    if (process.env.SHOW)
      console.log(
        JSON.stringify(e.plan, (k, v) =>
          [
            'Plan Rows',
            'Plan Width',
            'Startup Cost',
            'Total Cost',
            'Parallel Aware',
            'Async Capable',
            'Parent Relationship',
            'Output',
            'Alias',
            'Disabled',
          ].includes(k)
            ? undefined
            : v,
        ),
      )
  }
}

function alertsOf(n: number, shift = 0): HostAlert[] {
  return Array.from({ length: n }, (_, index) => {
    const line = (index % 100) * 10 + shift
    const location = { path: `src/${index % 97}.js`, start_line: line, end_line: line, start_column: 1, end_column: 9 }
    return codeAlert({ number: index + 1, location })
  })
}
function report(n: number, shift = 0, from = 0) {
  return sarif(
    Array.from({ length: n }, (_, i) => i + from).map((i) =>
      placedResult({
        rule: `R${i % 7}`,
        file: `src/${i % 97}.js`,
        line: Math.floor(i / 97) * 10 + 1 + shift,
        snippet: `code ${i}`,
        message: `Bad ${i}`,
      }),
    ),
  )
}
async function apply(api: TestApi, source: HostSource, alerts: HostAlert[]) {
  await api.services.sql.begin(async (tx) => {
    for (const alert of alerts) await applyAlert(api.services, tx, source, alert)
  })
  await drainQueue(api)
}

async function small(api: TestApi, caller: Caller, n: number) {
  const source = await connect(api, caller)
  await apply(api, source, alertsOf(n))
  await uploadReport(api, caller, report(n), { repository: 'acme/shop', provider: 'github' })
  return source
}
const R = { repository: 'acme/shop', provider: 'github' }

async function scenario(api: TestApi, caller: Caller, source: HostSource, fresh: boolean) {
  const an = async () => {
    if (fresh) await api.services.sql`analyze`
  }
  const alerts = alertsOf(ROWS)
  await measure(api, 'alerts', (api) => apply(api, source, alerts))
  await an()
  api.clock.advance(1000)
  const now = api.clock.now()
  await measure(api, 'one alert', (api) =>
    apply(api, source, [{ ...(alerts[0] as HostAlert), status: 'fixed', fixed_at: now, updated_at: now }]),
  )
  await measure(api, 'all alerts', (api) =>
    apply(
      api,
      source,
      alerts.map((a) => ({ ...a, status: 'fixed', fixed_at: now, updated_at: now })),
    ),
  )
  await an()
  await measure(api, 'report', (api) => uploadReport(api, caller, report(ROWS), R))
  await an()
  api.clock.advance(1000)
  await measure(api, 'moved report', (api) => uploadReport(api, caller, report(ROWS, 3), R))
  api.clock.advance(1000)
  await measure(api, 'half report', (api) => uploadReport(api, caller, report(ROWS / 2, 4), R))
  api.clock.advance(1000)
  await measure(api, 'half report again', (api) => uploadReport(api, caller, report(ROWS / 2, 4, ROWS / 4), R))
  api.clock.advance(1000)
  await measure(api, 'return', (api) => uploadReport(api, caller, report(ROWS, 6), R))
  api.clock.advance(1000)
  await measure(api, 'branch', (api) =>
    uploadReport(api, caller, report(ROWS, 7), { ...R, gitRef: 'refs/heads/other' }),
  )
  await measure(api, 'now default', (api) =>
    uploadReport(api, caller, report(ROWS, 5), { ...R, gitRef: 'refs/heads/other', tracked: true }),
  )
}

for (const kind of (process.env.KIND ?? 'none,fresh,before,beforetiny,tiny,many').split(',')) {
  test(kind, async () => {
    console.log('=====', kind)
    const api = await startTestApi()
    try {
      await disableAutovacuum(api)
      if (process.env.Z) {
        const cols = await api.services.sql<
          { t: string; c: string }[]
        >`select table_name as t, column_name as c from information_schema.columns join information_schema.tables using (table_schema, table_name) where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = any(${process.env.Z.split(',')})`
        for (const { t, c } of cols)
          await api.services
            .sql`alter table ${api.services.sql(t)} alter column ${api.services.sql(c)} set statistics 0`
      }
      let caller = await api.caller()
      let source: HostSource
      if (kind.startsWith('before')) {
        await small(api, await api.caller(), kind === 'before' ? 200 : 3)
        await api.services.sql`analyze`
        caller = await api.caller()
        source = await connect(api, caller)
      } else if (kind === 'many') {
        for (let i = 0; i < 60; i++) await small(api, await api.caller(), 5)
        await api.services.sql`analyze`
        caller = await api.caller()
        source = await connect(api, caller)
      } else if (kind === 'tiny') {
        source = await small(api, caller, 3)
        await api.services.sql`analyze`
      } else source = await connect(api, caller)
      await scenario(api, caller, source, kind === 'fresh')
    } finally {
      await api.close()
    }
  })
}
