import { type Benchmark, interleave } from './benchmark.ts'
import { configureGate, createRun, post, send } from './gates.ts'
import { latencyP99 } from './load.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 3
const SECONDS = 5
const POLLS_PER_SECOND = 500
/** Enough that none is polled more than 12 times a minute. */
const GATES = 1500

type Gate = { gate_id: string; poll_token: string }

export const gatePolls: Benchmark<Setting> = {
  name: `${POLLS_PER_SECOND} gate polls a second, p99`,
  about: `GET /v1/ci/gates/{gate_id} of ${GATES} waiting gates, beside counting and reading one row`,
  unit: 'ms',
  bar: { of: 'ours', atMost: 10 },
  async measure(setting) {
    const { ours, bare } = setting
    const gates = await openGates(setting)
    const bareIds = await openBareGates(setting, gates.length)
    let polled = 0
    const load = { method: 'GET', seconds: SECONDS, perSecond: POLLS_PER_SECOND } as const
    const pollOurs = () =>
      latencyP99({ ...load, url: ours.url }, () => {
        const { gate_id, poll_token } = gates[polled++ % gates.length] as Gate
        return { path: `/v1/ci/gates/${gate_id}`, headers: { authorization: `Bearer ${poll_token}` } }
      })
    const pollBare = () =>
      latencyP99({ ...load, url: bare.url }, () => ({ path: `/gates?id=${bareIds[polled++ % bareIds.length]}` }))
    await pollOurs()
    await pollBare()
    return interleave(ROUNDS, pollOurs, pollBare)
  },
}

/** Undecided gates of one run, one for each job. */
async function openGates(setting: Setting): Promise<Gate[]> {
  await configureGate(setting, 'waiting', [])
  const run_id = await createRun(setting)
  const gates: Gate[] = []
  for (let opened = 0; opened < GATES; opened += 1) {
    gates.push(await post<Gate>(setting, '/v1/ci/gates', { run_id, environment: 'waiting', job: `job-${opened}` }))
  }
  return gates
}

async function openBareGates({ bare }: Setting, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let opened = 0; opened < count; opened += 1) {
    const body = JSON.stringify({ run_id: 'none', environment: 'waiting', job: `job-${opened}` })
    ids.push((await send<{ id: string }>(`${bare.url}/gates`, { method: 'POST', body })).id)
  }
  return ids
}
