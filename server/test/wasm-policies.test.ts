import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { evaluateModule } from '../src/compliance/engines/evaluate-policy.ts'
import type { PolicyBundle } from '../src/compliance/policies/policy.schema.ts'
import type { PolicyInput } from '../src/compliance/policies/policy-input.schema.ts'
import type { RuleVerdict } from '../src/compliance/policies/policy-verdict.ts'
import { readPolicyFile } from '../src/compliance/policy-file/read-policy-file.ts'
import { attestationOf, policyInput } from './support/policies.ts'

const BUNDLE = new URL('./fixtures/policies/release.tar.gz', import.meta.url).pathname

let directory: string

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-wasm-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

function policyFile(entrypoint: string, bundle = BUNDLE): string {
  const path = join(directory, 'policy.yaml')
  writeFileSync(path, `name: w\nmode: enforce\nengine: wasm\nbundle: ${bundle}\nentrypoint: ${entrypoint}\n`)
  return path
}

async function evaluate(entrypoint: string, input: PolicyInput): Promise<RuleVerdict[]> {
  const { definition, bundle } = await readPolicyFile(policyFile(entrypoint))
  assert.ok(definition.engine.type === 'wasm')
  return evaluateModule(definition.engine, input, async () => bundle)
}

test('a bundle is evaluated with its own data', async () => {
  assert.deepEqual(await evaluate('shiplock/release/rules', policyInput({ attestations: [attestationOf()] })), [
    {
      ...{ rule: 'tests-passed', name: 'tests-passed', status: 'pass', blocking: true },
      ...{ reason: null, evidence: '1 attestations' },
    },
    {
      ...{ rule: 'no-critical', name: 'No critical finding', status: 'pass', blocking: true },
      ...{ reason: null, evidence: '{"critical":0}' },
    },
    {
      ...{ rule: 'fresh-scan', name: 'fresh-scan', status: 'fail', blocking: false },
      ...{ reason: 'No fresh scan.', evidence: null },
    },
  ])
})

test('one evaluation does not affect the next', async () => {
  const good = policyInput({ attestations: [attestationOf()] })
  const [first] = await evaluate('shiplock/release/rules', policyInput())
  const [second] = await evaluate('shiplock/release/rules', good)
  const [third] = await evaluate('shiplock/release/rules', policyInput())
  assert.deepEqual([first?.status, second?.status, third?.status], ['fail', 'pass', 'fail'])
})

test('an undefined decision and a decision that is not a list are errors', async () => {
  const [undecided] = await evaluate('shiplock/broken/undecided', policyInput())
  const [boolean] = await evaluate('shiplock/broken/boolean', policyInput())
  assert.deepEqual([undecided?.status, boolean?.status], ['error', 'error'])
  assert.match(undecided?.reason ?? '', /undefined/)
})

test('a module that takes too much time or memory is refused when applied, and is an error when evaluated', async () => {
  await assert.rejects(
    readPolicyFile(policyFile('shiplock/broken/endless')),
    /takes too much time or memory|opa_malloc: failed/,
  )
  const { definition, bundle } = await readPolicyFile(policyFile('shiplock/release/rules'))
  assert.ok(definition.engine.type === 'wasm')
  const engine = { ...definition.engine, entrypoint: 'shiplock/broken/endless' }
  const [verdict] = await evaluateModule(engine, policyInput(), async () => bundle)
  assert.equal(verdict?.status, 'error')
  assert.match(verdict?.reason ?? '', /took more than 1000 ms|opa_malloc: failed/)
  assert.equal((await evaluate('shiplock/release/rules', policyInput())).length, 3)
})

test('an unknown entrypoint is refused with a list of the known ones', async () => {
  await assert.rejects(
    readPolicyFile(policyFile('shiplock/other')),
    /no entrypoint shiplock\/other; the entrypoints are .*release/,
  )
})

test('a file that is not a module is refused', async () => {
  const path = join(directory, 'broken.wasm')
  writeFileSync(path, Buffer.from('\0asm\x01\0\0\0nonsense', 'latin1'))
  await assert.rejects(readPolicyFile(policyFile('a', path)), /broken\.wasm/)
  await assert.rejects(readPolicyFile(policyFile('a', join(directory, 'gone.wasm'))), /ENOENT.*gone\.wasm/)
})

test('a bundle that is not stored is an error', async () => {
  const engine = { bundle: '0'.repeat(64), entrypoint: 'a' }
  const [verdict] = await evaluateModule(engine, policyInput(), async (): Promise<PolicyBundle | null> => null)
  assert.deepEqual([verdict?.status, verdict?.reason], ['error', "The policy's bundle is not stored"])
})
