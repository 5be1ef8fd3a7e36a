import { NEW_RUNS_PER_DAY_MAX } from '../src/ci/runs/run-intake.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { startProgram } from './child-program.ts'
import { newRunMessage } from './ci-runs.ts'
import { requestsPerSecond } from './load.ts'
import { environmentOf, type Setting } from './setting.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 2
const SECONDS = 3
const RUNS_MAX = 300_000
/** Counted, and never reached. */
const LIMIT = '1000000'
const SERVER = ['../src/main.ts', 'server', '--json']

export const rateLimits: Benchmark<Setting> = {
  name: 'createCiRun with rate limits',
  about: 'POST /v1/ci/runs with the rate limits that all processes share, beside the same without them',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.9 },
  async measure({ directory, createKeys }) {
    await using opened = new AsyncDisposableStack()
    const keys = await createKeys(RUNS_MAX / NEW_RUNS_PER_DAY_MAX)
    const start = async (limit: string) => {
      const env = { ...environmentOf(directory), SHIPLOCK_RATE_LIMIT_PER_MINUTE: limit }
      const program = await startProgram<{ url: string }>(SERVER, env)
      opened.defer(program.stop)
      return `${program.ready.url}/v1/ci/runs`
    }
    let sent = 0
    const next = () => newRunMessage(keys[sent++ % keys.length] as string)
    const load = (url: string, seconds: number) => requestsPerSecond({ method: 'POST', url, seconds }, next)
    const [limited, unlimited] = [await start(LIMIT), await start('0')]
    await load(limited, WARM_UP_SECONDS)
    await load(unlimited, WARM_UP_SECONDS)
    return interleave(
      ROUNDS,
      () => load(limited, SECONDS),
      () => load(unlimited, SECONDS),
    )
  },
}
