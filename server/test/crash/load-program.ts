// The load of the crash test, in a process of its own that is not killed. Ends when its parent
// says so, after the journeys in progress.
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { type Access, Client } from './client.ts'
import { Journal } from './journal.ts'
import { gateJourney } from './journeys/gates.ts'
import type { Journey, World } from './journeys/journey.ts'
import { personJourney } from './journeys/people.ts'
import { reportJourney } from './journeys/reports.ts'
import { runJourney } from './journeys/runs.ts'
import { uploadJourney } from './journeys/uploads.ts'

export type LoadOptions = { access: Access; journal: string; seed: number }

const CI = [runJourney, reportJourney, reportJourney, uploadJourney, gateJourney]
/** What each actor does, at random. */
const ACTORS: Journey[][] = [CI, CI, CI, [personJourney]]

let stopping = false
process.once('message', () => {
  stopping = true
})
await main(JSON.parse(process.argv[2] ?? '') as LoadOptions)
process.disconnect()

async function main({ access, journal: path, seed }: LoadOptions): Promise<void> {
  const client = new Client(access)
  const journal = new Journal(path)
  await Promise.all(
    ACTORS.map((journeys, actor) => {
      let made = 0
      const nextName = () => `${seed}-${actor}-${++made}`
      const world = { client, journal, random: new SeededRandom(seed * 100 + actor), nextName, runs: [] }
      return act(journeys, world)
    }),
  )
}

async function act(journeys: Journey[], world: World): Promise<void> {
  while (!stopping) await world.random.pick(journeys)(world)
}
