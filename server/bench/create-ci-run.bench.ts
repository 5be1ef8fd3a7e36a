import { NEW_RUNS_PER_DAY_MAX } from '../src/ci/runs/run-intake.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { newRunMessage } from './ci-runs.ts'
import { requestsPerSecond } from './load.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 2
const SECONDS = 3
/** More than any machine stores in all rounds: each key may report 2,000 runs a day. */
const RUNS_MAX = 300_000

export const createCiRun: Benchmark<Setting> = {
  name: 'createCiRun',
  about: 'POST /v1/ci/runs beside JSON.parse and one INSERT of one row',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.75 },
  async measure({ ours, bare, createKeys }) {
    const keys = await createKeys(RUNS_MAX / NEW_RUNS_PER_DAY_MAX)
    let sent = 0
    const next = () => newRunMessage(keys[sent++ % keys.length] as string)
    const load = (url: string, seconds: number) => requestsPerSecond({ method: 'POST', url, seconds }, next)
    const oursUrl = `${ours.url}/v1/ci/runs`
    const bareUrl = `${bare.url}/runs`
    await load(oursUrl, WARM_UP_SECONDS)
    await load(bareUrl, WARM_UP_SECONDS)
    return interleave(
      ROUNDS,
      () => load(oursUrl, SECONDS),
      () => load(bareUrl, SECONDS),
    )
  },
}
