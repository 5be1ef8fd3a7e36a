import { startHostsApart } from '../test/support/hosts/hosts-apart.ts'
import { type Benchmark, median } from './benchmark.ts'

const ROUNDS = 5

/** One host's trouble, as the connection of another one feels it. */
export const hostsApart: Benchmark<unknown> = {
  name: 'an event beside code hosts in trouble',
  about:
    'from the end of a run at a code host until it is shown, while another host hangs and a third one limits, beside the same before',
  unit: 'ms',
  bar: { of: 'ours', atMost: 5000 },
  async measure() {
    await using opened = new AsyncDisposableStack()
    const apart = await startHostsApart()
    opened.defer(() => apart.server.close())
    const calm: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) calm.push(await apart.measureRun())
    apart.disturb()
    const bare = median(calm)
    const rounds = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push({ ours: await apart.measureRun(), bare })
    return rounds
  },
}
