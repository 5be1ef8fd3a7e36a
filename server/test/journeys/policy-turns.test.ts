import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { evaluatePolicy } from '../../src/compliance/engines/evaluate-policy.ts'
import { PolicyAsker } from '../../src/compliance/engines/policy-queue.ts'
import { decideByPolicyJob } from '../../src/deployments/decisions/decide-by-policy.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun } from '../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../support/gates.ts'
import { apply, definitionOf, policyInput } from '../support/policies.ts'
import { clearJobs, listJobs } from '../support/queue.ts'

const NUMBERS = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`
/** Takes minutes, and no regular expression. */
const SLOW = ['a', 'b', 'c', 'd'].reduceRight(
  (inner, name) => `${NUMBERS}.all(${name}, ${inner})`,
  'a + b + c + d >= 0',
)
const SLOW_POLICIES = 12

let gates = 0
let api: TestApi
let loud: Caller
let quiet: Caller
let third: Caller

before(async () => {
  api = await startTestApi()
  loud = await api.caller()
  quiet = await api.caller()
  third = await api.caller()
})
after(() => api?.close())

function policyOf(name: string, expression: string): string {
  const bindings = "bindings: { environments: ['*'] }"
  return `name: ${name}\nmode: enforce\n${bindings}\nrules:\n  - rule: r\n    expression: '${expression}'`
}

async function openGateOf(caller: Caller, policies: string[]) {
  await configureGate(api, caller, { policies, name: `gate ${++gates}` })
  const { id: run_id } = await createRun(api, caller, { ref: 'main' })
  return openGate(api, caller, { run_id })
}

test('slow policies of one organization hold up no gate of another, and an evaluation ends after five seconds', async () => {
  const names = Array.from({ length: SLOW_POLICIES }, (_, index) => `slow ${index}`)
  for (const name of names) await apply(api, loud, policyOf(name, SLOW))
  for (const caller of [quiet, third]) await apply(api, caller, policyOf('quick', 'true'))
  // Both processes start.
  await Promise.all([quiet, third].map((caller) => openGateOf(caller, ['quick'])))
  // Whoever opens a gate has the answer later than a client waits, so that it is pending.
  const gate = await openGateOf(loud, names)
  assert.equal(gate.decision, 'pending')
  assert.deepEqual(await listReasons(gate.deployment_id), [])
  const deployment = { org_id: loud.orgId, id: gate.deployment_id }
  assert.deepEqual(await listDecisions(), [['ready', deployment]])
  await clearJobs(api.services.sql)
  const evaluated = decideByPolicyJob.run(api.services, deployment)
  // If it had to wait for a slow one, it would be pending, too.
  assert.equal((await openGateOf(quiet, ['quick'])).decision, 'approved')

  await evaluated
  const { policy_evaluation } = await getDeployment(api, loud, gate.deployment_id)
  assert.equal(policy_evaluation.decision, 'block')
  const reasons = await listReasons(gate.deployment_id)
  assert.equal(reasons.length, SLOW_POLICIES)
  assert.ok(reasons.some((reason) => /took more than 1000 ms/.test(reason)))
  assert.ok(
    reasons.some((reason) => reason === 'budget: the evaluation took more than 5 seconds in all'),
    reasons.join('\n'),
  )
  // It is evaluated again, when the budget allows.
  assert.deepEqual(await listDecisions(), [['scheduled', deployment]])
})

test('policies in files of a repository that take long hold up none of the organization', async () => {
  const ask = (text: string, asker: PolicyAsker) =>
    evaluatePolicy(api.services, definitionOf(text).engine, [policyInput()], { asker, findBundle: async () => null })
  const ofFiles = new PolicyAsker('one', { isGate: true, isRepository: true })
  // Its process starts.
  const own = () => ask(policyOf('own', 'true'), new PolicyAsker('one', { isGate: true }))
  await own()
  const ended: string[] = []
  const slow = Array.from({ length: SLOW_POLICIES }, async (_, index) => {
    const [verdict] = await ask(policyOf(`file ${index}`, SLOW), ofFiles).catch((error: Error) => [
      { reason: error.message },
    ])
    ended.push('slow')
    return verdict?.reason ?? ''
  })
  const [verdict] = await own()
  ended.push('own')
  assert.equal(verdict?.status, 'pass')
  const reasons = await Promise.all(slow)
  assert.notEqual(ended.at(-1), 'own')
  for (const reason of reasons)
    assert.match(reason, /took more than \d+ ms|^budget: the evaluation took more than 5 seconds/)
})

async function listDecisions() {
  const jobs = await listJobs(api.services.sql, 'deployments.decide-by-policy')
  return jobs.map(({ state, payload }) => [state, payload])
}

/** Why the policies of a deployment were not passed. */
async function listReasons(deploymentId: string): Promise<string[]> {
  const rows = await api.services.sql<{ reason: string }[]>`
    select rule ->> 'reason' as reason
    from deployments, jsonb_array_elements(policy_rules) as policy, jsonb_array_elements(policy) as rule
    where org_id = ${loud.orgId}
      and id = ${deploymentId}`
  return rows.map(({ reason }) => reason)
}
