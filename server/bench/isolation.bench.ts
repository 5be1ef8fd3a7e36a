import { setTimeout as delay } from 'node:timers/promises'
import { OPERATOR } from '../src/audit/audit.store.ts'
import { applyPolicy } from '../src/compliance/policies/apply-policy.ts'
import { systemClock } from '../src/platform/clock.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import type { Services } from '../src/services.ts'
import { definitionOf } from '../test/support/policies.ts'
import { addDeliveries, insertConnection, newDeliveries } from './apply-deliveries.bench.ts'
import type { Benchmark, Round } from './benchmark.ts'
import type { BulkHost } from './bulk-host.ts'
import { SHIPLOCK, startProgram } from './child-program.ts'
import { configureGate, createRun, p99, post } from './gates.ts'
import { importReport } from './import-report.ts'
import { onNewDirectory } from './new-directory.ts'
import { sarifReport } from './sarif-report.ts'
import { environmentOf, type Setting } from './setting.ts'
import { STORY_REPOSITORIES } from './stored-deliveries.ts'
import { createOrganization } from './stored-organizations.ts'

const REPORTS = 20
/** About 20 MB. */
const RESULTS_PER_REPORT = 20_000
const SLOW_POLICIES = 50
const SLOW_GATES = 5
const POLICIES_PER_GATE = 20
const CALM_MS = 5000
const FLOOD_MS_MAX = 5 * 60_000
const PAUSE_MS = 50
/** As clients wait for large reports. Twenty that ask every 20 ms would take a core for themselves. */
const FLOOD_POLL_MS = 1000

const FLOOD = `while another organization sends ${REPORTS} reports of 20 MB, 10,000 deliveries and gates with ${SLOW_POLICIES} slow policies, beside the same before`

/** One organization's flood, as another one feels it (trust §7). */
export const isolation: Benchmark<unknown>[] = [
  {
    name: 'isolation of gates, p99',
    about: `openCiGate that a policy approves, ${FLOOD}`,
    unit: 'ms',
    bar: { of: 'ours', atMost: 1000 },
    measure: async () => [(await measured()).gates],
  },
  {
    name: 'isolation of small reports, p99',
    about: `the calls of an upload of one result, until it is read, ${FLOOD}`,
    unit: 'ms',
    bar: { of: 'ours', atMost: 5000 },
    measure: async () => [(await measured()).reports],
  },
]

type Measured = { gates: Round; reports: Round }
let measuring: Promise<Measured> | null = null

function measured(): Promise<Measured> {
  measuring ??= onNewDirectory(measure)
  return measuring
}

type Ready = { url: string; organization: { id: string }; key: { key: string } }
type Organization = Pick<Setting, 'sql' | 'ours'>

async function measure(directory: string): Promise<Measured> {
  await using opened = new AsyncDisposableStack()
  const sizes = JSON.stringify({ repositories: STORY_REPOSITORIES, runsPerRepository: 0 })
  const host = await startProgram<BulkHost>(['./bulk-host.ts', sizes], {})
  opened.defer(host.stop)
  const postgres = await openEmbeddedPostgres({ dataDir: directory })
  opened.defer(() => postgres.close())
  const sql = openSql(postgres.connection, { max: 2, applicationName: 'bench' })
  opened.defer(() => sql.end())
  const { ready, stop } = await startProgram<Ready>(SHIPLOCK, {
    ...environmentOf(directory),
    ...host.ready.environment,
  })
  opened.defer(stop)
  const { url } = ready
  const loud = { sql, ours: { url, orgId: ready.organization.id, key: ready.key.key } }
  const created = await createOrganization(sql, 'quiet')
  const quiet = { sql, ours: { url, orgId: created.id, key: created.key } }
  await prepare(quiet, ['quick'], 'true')
  await prepare(loud, names('slow', SLOW_POLICIES), slowExpression())
  await insertConnection(sql, loud.ours.orgId, host.ready)

  await measureWhile(quiet, delay(CALM_MS))
  const calm = await measureWhile(quiet, delay(CALM_MS))
  const flooded = await measureWhile(quiet, Promise.race([flood(loud, host.ready), delay(FLOOD_MS_MAX)]))
  return {
    gates: { ours: flooded.gates, bare: calm.gates },
    reports: { ours: flooded.reports, bare: calm.reports },
  }
}

function names(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`)
}

/** Policies for one environment, and gates that they approve. */
async function prepare({ sql, ours }: Organization, policies: string[], expression: string): Promise<void> {
  for (const name of policies) {
    const source = `name: ${name}\nmode: enforce\nrules:\n  - rule: r\n    expression: '${expression}'`
    const policy = { definition: definitionOf(source), source, bundle: null, file: null }
    await applyPolicy({ sql, clock: systemClock } as Services, ours.orgId, OPERATOR, policy)
  }
  for (let first = 0; first < policies.length; first += POLICIES_PER_GATE)
    await configureGate({ sql, ours }, 'decided', policies.slice(first, first + POLICIES_PER_GATE))
}

/** Takes minutes, so that each policy is ended after its second. */
function slowExpression(): string {
  const numbers = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`
  return ['a', 'b', 'c', 'd'].reduceRight((inner, name) => `${numbers}.all(${name}, ${inner})`, 'a + b + c + d >= 0')
}

/** Ends when the reports are read. The gates wait for their turns until then, or longer. */
async function flood(loud: Organization, host: BulkHost): Promise<void> {
  for (let gate = 0; gate < SLOW_GATES; gate += 1) void openGate(loud, DECIDED_OR_PENDING).catch(() => {})
  const report = sarifReport(RESULTS_PER_REPORT)
  const reports = Array.from({ length: REPORTS }, (_, index) => {
    const file = Buffer.concat([report, Buffer.from('\n'.repeat(index))])
    return importReport(loud.ours, file, `acme/flood-${index}`, FLOOD_POLL_MS)
  })
  await Promise.all([...reports, addDeliveries(loud.sql as Sql, newDeliveries(host, 0))])
}

/** Asks again while the gate is pending, because its policies did not answer within seconds. */
async function openGate(organization: Organization, until: string[]): Promise<string> {
  const run_id = await createRun(organization)
  const gate = { run_id, environment: 'decided' }
  for (;;) {
    const { decision } = await post<{ decision: string }>(organization, '/v1/ci/gates', gate)
    if (until.includes(decision)) return decision
    await delay(PAUSE_MS)
  }
}

const DECIDED = ['approved', 'rejected']
const DECIDED_OR_PENDING = [...DECIDED, 'pending']

let sent = 0

/** p99 of what the organization does again and again until `work` has ended. */
async function measureWhile(quiet: Organization, work: Promise<unknown>): Promise<{ gates: number; reports: number }> {
  let isOver = false
  const ended = work.finally(() => {
    isOver = true
  })
  const repeat = async (once: () => Promise<void>) => {
    const times: number[] = []
    do {
      const startedAt = performance.now()
      await once()
      times.push(performance.now() - startedAt)
      await delay(PAUSE_MS)
    } while (!isOver)
    return p99(times)
  }
  const openQuickGate = async () => {
    const decision = await openGate(quiet, DECIDED)
    if (decision !== 'approved') throw new Error(`the gate is ${decision}`)
  }
  const sendSmallReport = async () => {
    sent += 1
    const file = Buffer.concat([sarifReport(1), Buffer.from(' '.repeat(sent))])
    await importReport(quiet.ours, file, {
      repository: 'acme/small',
      category: `${sent % 10}`,
      commitSha: sent.toString(16).padStart(40, '0'),
    })
  }
  const [gates, reports] = await Promise.all([repeat(openQuickGate), repeat(sendSmallReport), ended])
  return { gates, reports }
}
