import { NEW_RUNS_PER_DAY_MAX } from '../src/ci/runs/run-intake.ts'
import { interleave, type Round } from './benchmark.ts'
import { startProgram } from './child-program.ts'
import { newRunMessage } from './ci-runs.ts'
import { requestsPerSecond } from './load.ts'
import { environmentOf, type Setting } from './setting.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 2
const SECONDS = 3
const RUNS_MAX = 300_000
const SERVER = ['../src/main.ts', 'server', '--json']

type Environment = Record<string, string>

/** createCiRun of two servers on one database, which differ in their settings. */
export async function compareServers(
  { directory, createKeys }: Setting,
  ours: Environment,
  bare: Environment,
): Promise<Round[]> {
  await using opened = new AsyncDisposableStack()
  const keys = await createKeys(RUNS_MAX / NEW_RUNS_PER_DAY_MAX)
  const start = async (environment: Environment) => {
    const env = { ...environmentOf(directory), SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0', ...environment }
    const program = await startProgram<{ url: string }>(SERVER, env)
    opened.defer(program.stop)
    return `${program.ready.url}/v1/ci/runs`
  }
  let sent = 0
  const next = () => newRunMessage(keys[sent++ % keys.length] as string)
  const load = (url: string, seconds: number) => requestsPerSecond({ method: 'POST', url, seconds }, next)
  const [ourUrl, bareUrl] = [await start(ours), await start(bare)]
  for (const url of [ourUrl, bareUrl]) await load(url, WARM_UP_SECONDS)
  // The servers end with this function, and so not before the measurement.
  return await interleave(
    ROUNDS,
    () => load(ourUrl, SECONDS),
    () => load(bareUrl, SECONDS),
  )
}
