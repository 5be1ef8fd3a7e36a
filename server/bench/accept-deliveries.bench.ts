import { type Benchmark, interleave } from './benchmark.ts'
import { BARE, startProgram } from './child-program.ts'
import { githubEnvironment, newDelivery } from './deliveries.ts'
import { requestsPerSecond } from './load.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf } from './setting.ts'

const ROUNDS = 5
const WARM_UP_SECONDS = 2
const SECONDS = 3

const MIGRATE = ['../src/main.ts', 'migrate', '--json']
const SERVER = ['../src/main.ts', 'server', '--json']

/** On its own database, without a worker, which would apply the deliveries meanwhile. */
export const acceptDeliveries: Benchmark<unknown> = {
  name: 'accepted webhook deliveries',
  about: 'POST /webhooks/github beside checking the same signature and one INSERT of one row',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.6 },
  measure: () =>
    onNewDirectory(async (directory) => {
      await using opened = new AsyncDisposableStack()
      const environment = { ...environmentOf(directory), ...githubEnvironment() }
      const migrated = await startProgram(MIGRATE, environment)
      await migrated.stop()
      const ours = await startProgram<{ url: string }>(SERVER, environment)
      opened.defer(ours.stop)
      const bare = await startProgram<{ url: string }>(BARE, environment)
      opened.defer(bare.stop)
      const load = (url: string, seconds: number) => requestsPerSecond({ method: 'POST', url, seconds }, newDelivery)
      const oursUrl = `${ours.ready.url}/webhooks/github`
      const bareUrl = `${bare.ready.url}/deliveries`
      await load(oursUrl, WARM_UP_SECONDS)
      await load(bareUrl, WARM_UP_SECONDS)
      return await interleave(
        ROUNDS,
        () => load(oursUrl, SECONDS),
        () => load(bareUrl, SECONDS),
      )
    }),
}
