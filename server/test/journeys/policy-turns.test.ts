import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun } from '../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../support/gates.ts'
import { apply } from '../support/policies.ts'

const NUMBERS = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`
/** Takes minutes, and no regular expression. */
const SLOW = ['a', 'b', 'c', 'd'].reduceRight(
  (inner, name) => `${NUMBERS}.all(${name}, ${inner})`,
  'a + b + c + d >= 0',
)
const SLOW_POLICIES = 12
/** Without turns, it takes twelve seconds at least. */
const QUICK_MS_MAX = 4000

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
  const slow = openGateOf(loud, names)
  const startedAt = performance.now()
  const { decision } = await openGateOf(quiet, ['quick'])
  const tookMs = performance.now() - startedAt
  assert.equal(decision, 'approved')
  assert.ok(tookMs < QUICK_MS_MAX, `it took ${tookMs} ms`)

  const gate = await slow
  assert.equal(gate.decision, 'pending')
  const { policy_evaluation } = await getDeployment(api, loud, gate.deployment_id)
  assert.equal(policy_evaluation.decision, 'block')
  const rows = await api.services.sql<{ reason: string }[]>`
    select rule ->> 'reason' as reason
    from deployments, jsonb_array_elements(policy_rules) as policy, jsonb_array_elements(policy) as rule
    where org_id = ${loud.orgId}
      and id = ${gate.deployment_id}`
  const reasons = rows.map(({ reason }) => reason)
  assert.equal(reasons.length, SLOW_POLICIES)
  assert.ok(reasons.some((reason) => /took more than 1000 ms/.test(reason)))
  assert.ok(
    reasons.some((reason) => reason === 'The evaluation took more than 5 seconds in all'),
    reasons.join('\n'),
  )
})
