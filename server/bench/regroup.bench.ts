import { readConfig } from '../src/config.ts'
import type { DatabaseAddress } from '../src/platform/db/sql.ts'
import { REPOSITORIES_AT_ONCE, regroupOrganization } from '../src/security/issues/regroup-organization.ts'
import type { Services } from '../src/services.ts'
import { openServices } from '../src/start/open-services.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { importReport } from './import-report.ts'
import { sarifReport } from './sarif-report.ts'
import { environmentOf, type Setting, type Shiplock, withShiplock } from './setting.ts'

const ROUNDS = 3
const PER_REPOSITORY = 50_000
/** Half of the places of the first scanner. */
const OF_BOTH = Math.round(PER_REPOSITORY / 3)

/** Every finding has another reason than by the rules, as after an upgrade with new ones. */
export const regroups: Benchmark<Setting>[] = [
  regroup(2 * PER_REPOSITORY, ROUNDS),
  { ...regroup(20 * PER_REPOSITORY, 1), onlyByName: true },
]

function regroup(findings: number, rounds: number): Benchmark<Setting> {
  const repositories = findings / PER_REPOSITORY
  return {
    name: `regroup of ${findings.toLocaleString('en')} findings`,
    about: `of ${repositories} repositories, when every reason changes, beside one UPDATE of all reasons`,
    unit: 'ms',
    bar: null,
    measure: () =>
      withShiplock({}, async (shiplock) => {
        for (let nth = 0; nth < repositories; nth += 1) await importTwice(shiplock, `acme/${nth}`)
        await outdate(shiplock)
        const all = (services: Services) => () => regroupAll(services, shiplock, findings)
        return withServices(shiplock, (services) => interleave(rounds, all(services), () => outdate(shiplock)))
      }),
  }
}

/** Reports of two scanners, so that there are issues with one finding and with two. */
async function importTwice({ ours }: Shiplock, repository: string): Promise<void> {
  const other = sarifReport(OF_BOTH).toString().replaceAll('bench', 'other')
  await importReport(ours, sarifReport(PER_REPOSITORY - OF_BOTH), repository)
  await importReport(ours, Buffer.from(other), repository)
}

/**
 * Updates all reasons, as if other rules had stated them. Answers the milliseconds of the update.
 */
async function outdate({ sql, ours }: Shiplock): Promise<number> {
  const ms = await timed(
    () => sql`
      update findings
      set grouping_code = 'same_location', grouping_detail = 'Both are at these lines.', grouped_at = now()
      where org_id = ${ours.orgId}`,
  )
  await sql`vacuum (analyze) findings, issue_regroup_findings`
  return ms
}

async function regroupAll(services: Services, { sql, ours }: Shiplock, findings: number): Promise<number> {
  let restated = 0
  const ms = await timed(async () => {
    restated = (await regroupOrganization(services, ours.orgId, () => {})).restated
  })
  if (restated !== findings) throw new Error(`${restated} of ${findings} findings have a new reason.`)
  await sql`vacuum findings`
  return ms
}

async function withServices<Result>(
  { directory, sql }: Shiplock,
  use: (services: Services) => Promise<Result>,
): Promise<Result> {
  const address = sql.options.target().config as DatabaseAddress
  const options = { applicationName: 'regroup', connections: REPOSITORIES_AT_ONCE }
  const { services, close } = await openServices(readConfig(environmentOf(directory)), { address }, options)
  return use(services).finally(close)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
