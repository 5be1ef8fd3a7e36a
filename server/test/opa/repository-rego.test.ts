import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkRego } from '../../src/compliance/engines/evaluate-rego.ts'
import { RegoError } from '../../src/compliance/engines/opa-server.ts'
import type { PolicyDefinition } from '../../src/compliance/policies/policy.schema.ts'
import { parseRego } from '../../src/compliance/policy-file/rego.parser.ts'
import { readConfig } from '../../src/config.ts'
import { type OpaServer, startOpa } from '../support/opa.ts'
import { attestationOf, policyInput, verdictsOf } from '../support/policies.ts'

let opa: OpaServer
let env: Record<string, string>

before(async () => {
  opa = await startOpa()
  env = { SHIPLOCK_OPA_URL: opa.url }
})
after(() => opa?.close())

function policyOf(product: string, body: string): PolicyDefinition {
  const settings = `#   ${product}: { format: 1, mode: enforce, bindings: [{ environment: canary }] }`
  return parseRego(`# METADATA\n# title: "Canary"\n# custom:\n${settings}\npackage ${product}.policy\n\n${body}`)
}

function compile({ engine }: PolicyDefinition): Promise<void> {
  assert.ok(engine.type === 'rego')
  return checkRego({ config: readConfig(env) }, engine)
}

const NEWEST = `trusted := [item | some item in input.attestations; item.kind == "test-results"; item.trusted]
newest := trusted[count(trusted) - 1]
results := [{
  "rule": "tests",
  "status": newest.status,
  "blocking": true,
  "reason": sprintf("%v of a %v", [newest.name, input.subject]),
}]
`

test('a module of the prodgator dialect reads attestations oldest first, with trusted', async () => {
  const policy = policyOf('prodgator', NEWEST)
  const input = policyInput({
    attestations: [
      attestationOf({ name: 'newest', status: 'fail', at: '2026-03-03T00:00:00.000Z', trust: 'verified' }),
      attestationOf({ name: 'oldest', status: 'pass', at: '2026-03-01T00:00:00.000Z', trust: 'verified' }),
      attestationOf({ name: 'self-reported', status: 'pass', at: '2026-03-04T00:00:00.000Z' }),
    ],
  })
  const [verdict] = await verdictsOf(policy, input, env)
  assert.deepEqual([verdict?.status, verdict?.reason], ['fail', 'newest of a release'])
})

test('a module reads the policy input', async () => {
  const policy = policyOf('shiplock', 'results := [{"rule": input.repository, "status": "pass"}]\n')
  const [verdict] = await verdictsOf(policy, policyInput(), env)
  assert.deepEqual([verdict?.rule, verdict?.status], ['github.com/acme/api', 'pass'])
})

test('a module that the server has forgotten is stored again', async () => {
  const policy = policyOf('shiplock', 'results := [{"rule": "kept", "status": "pass"}]\n')
  await compile(policy)
  const { result } = (await (await fetch(`${opa.url}/v1/policies`)).json()) as { result: { id: string }[] }
  for (const { id } of result.filter(({ id }) => id.startsWith('shiplock/repositories/')))
    await fetch(`${opa.url}/v1/policies/${id}`, { method: 'DELETE' })
  assert.equal((await verdictsOf(policy, policyInput(), env))[0]?.status, 'pass')
})

test('modules of different repositories do not meet', async () => {
  const [one, other] = ['one', 'other'].map((rule) =>
    policyOf('shiplock', `results := [{"rule": "${rule}", "status": "pass"}]\n`),
  ) as [PolicyDefinition, PolicyDefinition]
  await Promise.all([compile(one), compile(other)])
  assert.equal((await verdictsOf(one, policyInput(), env))[0]?.rule, 'one')
  assert.equal((await verdictsOf(other, policyInput(), env))[0]?.rule, 'other')
})

test('a module that does not compile is refused with the line of each mistake', async () => {
  await assert.rejects(compile(policyOf('shiplock', 'results := [\nx := unknown_function(1)\n')), (error) => {
    assert.ok(error instanceof RegoError)
    assert.equal(error.mistakes[0]?.line, 8)
    return true
  })
  await assert.rejects(compile(policyOf('shiplock', 'x := unknown_function(1)\n')), /unknown_function/)
})

test('a module without results is an error that blocks', async () => {
  const [verdict] = await verdictsOf(policyOf('shiplock', 'allow := true\n'), policyInput(), env)
  assert.match(verdict?.reason ?? '', /undefined/)
})
