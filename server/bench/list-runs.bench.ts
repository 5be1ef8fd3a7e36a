import { type Benchmark, interleave } from './benchmark.ts'
import { newRunMessage } from './ci-runs.ts'
import { requestsPerSecond } from './load.ts'
import { assertSameData } from './same-data.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const SECONDS = 2
const RUNS_STORED = 1000

export const listRuns: Benchmark<Setting> = {
  name: 'list of 100 runs',
  about: 'GET /v1/runs?limit=100 beside the same rows as objects, through JSON.stringify',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 2 },
  async measure({ ours, bare, sql }) {
    for (let stored = 0; stored < RUNS_STORED; stored += 1) await storeRun(ours)
    await sql`analyze` // autovacuum does so within a minute; without it either side may get a bad plan
    const oursLoad = {
      method: 'GET',
      url: `${ours.url}/v1/runs?limit=100`,
      headers: { authorization: `Bearer ${ours.key}` },
    } as const
    const bareLoad = { method: 'GET', url: `${bare.url}/runs?org=${ours.orgId}` } as const
    await assertSameData(oursLoad, bareLoad)
    return interleave(
      ROUNDS,
      () => requestsPerSecond({ ...oursLoad, seconds: SECONDS }),
      () => requestsPerSecond({ ...bareLoad, seconds: SECONDS }),
    )
  },
}

/** Half of them have finished, so that both forms are on the page. */
async function storeRun({ url, key }: Setting['ours']): Promise<void> {
  const response = await fetch(`${url}/v1/ci/runs`, { method: 'POST', ...newRunMessage(key) })
  const { data } = (await response.json()) as { data: { id: string; commit_sha: string } }
  if (Number.parseInt(data.commit_sha.slice(-1), 16) % 2 === 0) return
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ status: 'success' })
  await fetch(`${url}/v1/ci/runs/${data.id}`, { method: 'PATCH', headers, body })
}
