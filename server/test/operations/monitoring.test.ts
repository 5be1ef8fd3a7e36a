import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import '../../src/jobs.ts'
import { metrics } from '../../src/platform/metrics.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { readExpression } from '../support/promql.ts'

// What deploy/monitoring states must be true of the metrics of a running server.

type Rule = { alert: string; expr: string; annotations: Record<string, string>; labels: Record<string, string> }
type Target = { expr: string; legendFormat: string; refId: string }
type Panel = {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: Target[]
}

const ROOT = new URL('../../../', import.meta.url).pathname
const RULES = (
  parse(readFileSync(`${ROOT}deploy/monitoring/alerts.yaml`, 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap(({ rules }) => rules)
const DASHBOARD = JSON.parse(readFileSync(`${ROOT}deploy/monitoring/dashboard.json`, 'utf8'))
const PANELS: Panel[] = DASHBOARD.panels
const TARGETS = PANELS.flatMap(({ title, targets = [] }) => targets.map((target) => ({ ...target, title })))
const EXPRESSIONS = [
  ...RULES.map(({ alert, expr }) => ({ where: alert, expr })),
  ...TARGETS.map(({ title, expr }) => ({ where: title, expr: expr.replaceAll('$__rate_interval', '5m') })),
]
/** Labels that Prometheus adds. */
const TARGET_LABELS = ['job', 'instance']
const SUFFIXES = /_(?:bucket|count|sum)$/

let api: TestApi
/** The labels of each metric. */
let known: Map<string, Set<string>>

before(async () => {
  await defineAll()
  api = await startTestApi()
  await storeSomethingOfEach(api)
  const { text } = await api.request('GET', '/metrics')
  known = knownMetrics(text)
})
after(() => api.close())

test('every expression is PromQL and reads metrics and labels that the server has', () => {
  for (const { where, expr } of EXPRESSIONS) {
    const { selectors, grouped } = readExpression(expr)
    assert.ok(selectors.length > 0, where)
    const labels = selectors.map((selector) => {
      const found = known.get(selector.metric) ?? known.get(selector.metric.replace(SUFFIXES, ''))
      assert.ok(found, `${where} reads ${selector.metric}, which does not exist`)
      for (const label of selector.labels)
        assert.ok(found.has(label), `${selector.metric} has no label ${label} (${where})`)
      return found
    })
    for (const label of grouped)
      assert.ok(
        labels.some((found) => found.has(label)),
        `${where} groups by ${label}`,
      )
  }
})

test('a dashboard shows every metric of ours', () => {
  const shown = TARGETS.flatMap(({ expr }) => readExpression(expr.replaceAll('$__rate_interval', '5m')).selectors)
  const names = new Set(shown.flatMap(({ metric }) => [metric, metric.replace(SUFFIXES, '')]))
  const missing = [...known.keys()].filter((name) => name.startsWith('shiplock_') && !names.has(name))
  assert.deepEqual(missing, [])
})

test('a legend names only labels of its expression', () => {
  for (const { title, expr, legendFormat } of TARGETS) {
    const { selectors, grouped } = readExpression(expr.replaceAll('$__rate_interval', '5m'))
    const own = selectors.flatMap(({ metric }) => [...(known.get(metric) ?? [])])
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      assert.ok([...grouped, ...own].includes(label), `${title}: ${label}`)
  }
})

test('the dashboard has the structure that Grafana reads, and its panels do not overlap', () => {
  assert.ok(DASHBOARD.schemaVersion >= 39 && DASHBOARD.uid && DASHBOARD.title)
  assert.equal(new Set(PANELS.map(({ id }) => id)).size, PANELS.length)
  for (const {
    title,
    type,
    targets = [],
    gridPos: { x, w },
  } of PANELS) {
    assert.ok(title && ['row', 'stat', 'timeseries'].includes(type))
    assert.ok(x >= 0 && x + w <= 24, title)
    assert.equal(targets.length > 0, type !== 'row', title)
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
  }
  for (const [index, panel] of PANELS.entries())
    for (const other of PANELS.slice(index + 1))
      assert.ok(!overlap(panel.gridPos, other.gridPos), `${panel.title} overlaps ${other.title}`)
})

test('every alert has a severity, a summary, and an entry in the runbook that says what to do', () => {
  const page = readFileSync(`${ROOT}docs/operations/monitoring.md`, 'utf8')
  assert.equal(new Set(RULES.map(({ alert }) => alert)).size, RULES.length)
  for (const { alert, annotations, labels } of RULES) {
    assert.match(labels.severity ?? '', /^(?:critical|warning)$/, alert)
    assert.ok(annotations.summary, alert)
    const [file, anchor] = (annotations.runbook_url ?? '').split('#')
    assert.deepEqual([file, anchor], ['docs/operations/monitoring.md', alert.toLowerCase()])
    const [, entry = ''] = new RegExp(`\n### ${alert}\n([^]*?)(?=\n##|$)`).exec(page) ?? []
    for (const part of ['**Meaning**', '**Look at**', '**Do**']) assert.ok(entry.includes(part), `${alert}: ${part}`)
  }
  const described = [...page.matchAll(/\n### (Shiplock\w+)\n/g)].map(([, name]) => name)
  assert.deepEqual(
    described,
    RULES.map(({ alert }) => alert),
  )
})

function overlap(a: Panel['gridPos'], b: Panel['gridPos']): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

/** The names that the server shows, with the labels that their definitions or samples have. */
function knownMetrics(text: string): Map<string, Set<string>> {
  const found = new Map([['up', new Set(TARGET_LABELS)]])
  for (const [, name = ''] of text.matchAll(/^# TYPE (\w+) /gm)) found.set(name, new Set([...TARGET_LABELS, 'le']))
  for (const metric of metrics.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[])
    for (const label of metric.labelNames) found.get(metric.name)?.add(label)
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label)
  return found
}

/** Some metrics appear when their job first runs, with the code that it loads then. */
async function defineAll(): Promise<void> {
  const source = new URL('../../src/', import.meta.url)
  const files = globSync('**/*.ts', { cwd: source }).map((path) => new URL(path, source))
  const defining = files.filter((file) =>
    /^const \w+ = define(?:Counter|Gauge|Histogram)\(/m.test(readFileSync(file, 'utf8')),
  )
  for (const { href } of defining) await import(href)
}

/** Rows without which some gauges have no samples. */
async function storeSomethingOfEach({ services: { sql, clock }, caller }: TestApi): Promise<void> {
  const { orgId } = await caller()
  const now = clock.now()
  const [id, call] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  await enqueue(sql, { name: 'a task', attemptsMax: 1 }, {})
  await sql`insert into retention_kinds (kind) values ('runs')`
  await sql`
    insert into job_schedules (name, last_started_at)
    values ('a schedule', now())`
  await sql`
    insert into codehost_connections (
      org_id, id, provider, host, installation_id, account_id, account_login, account_type, status, repositories,
      connected_at
    )
    values (${orgId}, ${id}, 'github', 'github.com', '1', '1', 'acme', 'Organization', 'active', 'all', ${now})`
  await sql`
    insert into codehost_calls (
      org_id, id, connection_id, idempotency_key, subject_type, subject_id, action, status, next_try_at, created_at
    )
    values (${orgId}, ${call}, ${id}, 'k', 'deployment', '1', '{"type": "decision"}', 'pending', ${now}, ${now})`
}
