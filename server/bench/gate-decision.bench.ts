import { OPERATOR } from '../src/audit/audit.store.ts'
import { applyPolicy } from '../src/compliance/policies/apply-policy.ts'
import { systemClock } from '../src/platform/clock.ts'
import type { Services } from '../src/services.ts'
import { definitionOf } from '../test/support/policies.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { configureGate, createRun, p99, post, send } from './gates.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const GATES_PER_ROUND = 200
const RUNS = 500
const ATTESTATIONS_PER_RUN = 20

const POLICY = `
name: bench
mode: enforce
rules:
  - rule: tests
    expression: attestations.exists(a, a.kind == "test-results") && attestations.all(a, a.status == "pass")
    trust: any
  - rule: critical
    expression: findings.open.critical == 0
    absent_evidence: pass`

export const gateDecision: Benchmark<Setting> = {
  name: 'gate opened to policy decision, p99',
  about: `openCiGate that a policy approves, ${RUNS * ATTESTATIONS_PER_RUN} attestations stored, beside reading the run's and one INSERT`,
  unit: 'ms',
  bar: { of: 'ours', atMost: 15 },
  async measure(setting) {
    const runs = await storeRuns(setting)
    const { sql, ours, bare } = setting
    const policy = { definition: definitionOf(POLICY), source: POLICY, bundle: null, file: null }
    await applyPolicy({ sql, clock: systemClock } as Services, ours.orgId, OPERATOR, policy)
    await configureGate(setting, 'decided', ['bench'])
    const openOurs = async (gate: object) => {
      const { decision } = await post<{ decision: string }>(setting, '/v1/ci/gates', gate)
      if (decision !== 'approved') throw new Error(`the gate is ${decision}`)
    }
    const openBare = (gate: object) => send(`${bare.url}/gates`, { method: 'POST', body: JSON.stringify(gate) })
    const measure = (open: (gate: object) => Promise<unknown>) => (round: number) => slowest(open, runs, `job-${round}`)
    await measure(openOurs)(ROUNDS)
    await measure(openBare)(ROUNDS)
    return interleave(ROUNDS, measure(openOurs), measure(openBare))
  },
}

/** p99 of opening gates one after the other, each of another run. */
async function slowest(open: (gate: object) => Promise<unknown>, runs: string[], job: string): Promise<number> {
  const times: number[] = []
  for (const run_id of runs.slice(0, GATES_PER_ROUND)) {
    const startedAt = performance.now()
    await open({ run_id, environment: 'decided', job })
    times.push(performance.now() - startedAt)
  }
  return p99(times)
}

async function storeRuns(setting: Setting): Promise<string[]> {
  const attestations = Array.from({ length: ATTESTATIONS_PER_RUN }, (_, at) => ({
    kind: 'test-results',
    name: `suite ${at}`,
    data: { passed: 100, failed: 0, skipped: 0, errors: 0 },
  }))
  const runs: string[] = []
  for (let stored = 0; stored < RUNS; stored += 1) {
    const run = await createRun(setting)
    await post(setting, `/v1/ci/runs/${run}/reports`, { job: {}, attestations })
    runs.push(run)
  }
  await setting.sql`analyze`
  return runs
}
