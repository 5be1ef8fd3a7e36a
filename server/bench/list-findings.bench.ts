import { type Benchmark, interleave } from './benchmark.ts'
import { importReport } from './import-report.ts'
import { requestsPerSecond } from './load.ts'
import { assertSameData } from './same-data.ts'
import { sarifReport } from './sarif-report.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const SECONDS = 2
const FINDINGS_STORED = 2000

const FILTERS = ['', 'state=open', 'scanner=bench-scanner', 'path=services/shop']

export const listFindings: Benchmark<Setting>[] = FILTERS.map(listOf)

function listOf(filter: string): Benchmark<Setting> {
  return {
    name: `list of 1,000 findings${filter && ` with ${filter}`}`,
    about: 'GET /v1/security/findings?limit=1000 beside the same rows as objects, through JSON.stringify',
    unit: 'requests/s',
    bar: null,
    async measure({ ours, bare, sql }) {
      await importReport(ours, sarifReport(FINDINGS_STORED), `acme/listed-${FILTERS.indexOf(filter)}`)
      await sql`analyze` // autovacuum does so within a minute; without it either side may get a bad plan
      const oursLoad = {
        method: 'GET',
        url: `${ours.url}/v1/security/findings?limit=1000&${filter}`,
        headers: { authorization: `Bearer ${ours.key}` },
      } as const
      const bareLoad = { method: 'GET', url: `${bare.url}/findings?org=${ours.orgId}&${filter}` } as const
      await assertSameData(oursLoad, bareLoad)
      return interleave(
        ROUNDS,
        () => requestsPerSecond({ ...oursLoad, seconds: SECONDS }),
        () => requestsPerSecond({ ...bareLoad, seconds: SECONDS }),
      )
    },
  }
}
