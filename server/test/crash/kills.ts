import { setTimeout } from 'node:timers/promises'
import type { SeededRandom } from '../../src/platform/seeded-random.ts'
import type { Installation } from './installation.ts'

/** The time of a start until it is ready, without crash recovery, on a slow machine. */
const STARTING_MS_MAX = 3000
const RUNNING_MS_MAX = 6000

/**
 * Kills the running program at random moments, and starts it again. A third of the kills fall into
 * a start, when the database recovers from the kill before. Returns how long each complete start
 * took.
 */
export async function killRepeatedly(
  installation: Installation,
  random: SeededRandom,
  { kills, onKill }: { kills: number; onKill: (done: number) => void },
): Promise<number[]> {
  const recoveries: number[] = []
  let ready: Promise<unknown> = Promise.resolve()
  for (let done = 1; done <= kills; done += 1) {
    const whileStarting = random.next() < 1 / 3
    if (!whileStarting) await ready
    await setTimeout(random.below(whileStarting ? STARTING_MS_MAX : RUNNING_MS_MAX))
    await installation.kill()
    onKill(done)
    const startedAt = performance.now()
    ready = installation.start().then((printed) => printed && recoveries.push(performance.now() - startedAt))
  }
  if ((await ready) === null) throw new Error(`The program did not start after the last kill: ${installation.said}`)
  return recoveries
}
