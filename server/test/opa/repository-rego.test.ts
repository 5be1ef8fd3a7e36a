import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { checkRego } from '../../src/compliance/engines/evaluate-rego.ts'
import { RegoError } from '../../src/compliance/engines/opa-server.ts'
import { checkCalls, listUnrefusedCalls } from '../../src/compliance/engines/rego-capabilities.ts'
import type { PolicyDefinition } from '../../src/compliance/policies/policy.schema.ts'
import { parseRego } from '../../src/compliance/policy-file/rego.parser.ts'
import { readConfig } from '../../src/config.ts'
import { type OpaServer, startOpa } from '../support/opa.ts'
import { attestationOf, policyInput, verdictsOf } from '../support/policies.ts'

let opa: OpaServer
let env: Record<string, string>
/** Stands for an internal address. */
let internal: Server
let hits = 0

before(async () => {
  internal = createServer((_request, response) => {
    hits += 1
    response.setHeader('content-type', 'application/json').end('{"type": "object"}')
  }).listen(0, '127.0.0.1')
  await once(internal, 'listening')
  opa = await startOpa()
  env = { SHIPLOCK_OPA_URL: opa.url }
})
after(async () => {
  await opa?.close()
  internal?.close()
})

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

const schema = () => `{"$ref": "http://127.0.0.1:${(internal.address() as AddressInfo).port}/schema"}`

const FETCHING: Record<string, () => string> = {
  'json.match_schema': () => `json.match_schema({}, ${schema()})`,
  'json.match_schema in brackets': () => `json["match_schema"]({}, ${schema()})`,
  'json.verify_schema': () => `json.verify_schema(${schema()})`,
  'a function that is replaced': () => `object.get({}, ${schema()}, 1) with object.get as json.match_schema`,
  'a function of its own that is replaced': () => `own({}, ${schema()}) with own as json.match_schema`,
  'the parser': () => 'rego.parse_module("a.rego", "package a")',
  'the log': () => 'trace("a")',
  'a function that no version knows': () => 'internals.read("/etc/passwd")',
}
for (const [what, call] of Object.entries(FETCHING)) {
  test(`a module that calls what is not allowed is refused, and nothing is fetched: ${what}`, async () => {
    const policy = policyOf('shiplock', `own(_, _) := 1\nresults := [x | x := ${call()}]\n`)
    await assert.rejects(compile(policy), (error) => {
      assert.ok(error instanceof RegoError)
      assert.match(error.message, /a policy cannot (call|replace) /)
      if (what === 'json.match_schema') assert.equal(error.mistakes[0]?.line, 8)
      return true
    })
    const [verdict] = await verdictsOf(policy, policyInput(), env)
    assert.deepEqual([verdict?.status, verdict?.blocking], ['error', true])
    assert.match(verdict?.reason ?? '', /The policy is refused: a policy cannot/)
    assert.equal(hits, 0)
  })
}

test('a function of the module that has the name of a forbidden one is its own', async () => {
  const body = `json.match_schema(_, _) := "own"\ntrace(_) := "own"\n`
  const policy = policyOf('shiplock', `${body}results := [{"rule": trace(1), "status": "pass"}]\n`)
  assert.equal((await verdictsOf(policy, policyInput(), env))[0]?.rule, 'own')
  const called = policyOf('shiplock', `${body}results := [json.match_schema({}, ${schema()})]\n`)
  await assert.rejects(compile(called), /cannot call json\.match_schema/)
  assert.equal(hits, 0)
})

test('what computes from its input is allowed', async () => {
  const calls = [
    'count(input.attestations) + 1',
    'time.now_ns() - time.parse_rfc3339_ns("2026-01-01T00:00:00Z")',
    '{lower(each.name) | some each in input.attestations; not startswith(each.name, "a")}',
    'sprintf("%v", [regex.match("a", "b")])',
    'json.marshal(object.get(input, ["findings", "open"], 0))',
    'count(input.attestations) with input.attestations as [1]',
    'own(1)',
  ]
  const rules = calls.map((call, at) => `r${at} := x if { x := ${call} }`).join('\n')
  await compile(policyOf('shiplock', `own(x) := x if { every y in [x] { y == 1 } } else := 2\n${rules}\n`))
})

test('schemas in METADATA fetch nothing', async () => {
  const settings = '#   shiplock: { format: 1, mode: enforce, bindings: [] }'
  const head = `# METADATA\n# title: a\n# schemas:\n#   - input: ${schema()}\n# custom:\n${settings}\n`
  await compile(parseRego(`${head}package shiplock.policy\n\nresults := [{"rule": input.a, "status": "pass"}]\n`))
  assert.equal(hits, 0)
})

test('the check of doctor finds that every forbidden call is refused', async () => {
  assert.deepEqual(await listUnrefusedCalls(opa.url), [])
  for (const unreadable of ['package a\n\nx := [', 'x := 1', ''])
    assert.equal(await checkCalls(opa.url, unreadable), false, unreadable)
  assert.equal(await checkCalls(opa.url, 'package a'), true)
})
