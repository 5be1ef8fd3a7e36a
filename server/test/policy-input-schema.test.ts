import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { parsePolicyInput } from '../src/compliance/policy-file/policy-input.parser.ts'
import { policyInput } from './support/policies.ts'
import { POLICY_INPUT_SCHEMA_FILE, publishedPolicyInputSchema } from './support/policy-input-schema.ts'

test('docs/policy-input.schema.json is what policies decide by', async () => {
  const committed = await readFile(POLICY_INPUT_SCHEMA_FILE, 'utf8')
  assert.equal(publishedPolicyInputSchema(), committed, 'npm run policy-input-schema --workspace server')
})

test('an input of that form is read, and mistakes in one are named by their place', () => {
  assert.deepEqual(parsePolicyInput(JSON.stringify(policyInput())), policyInput())
  const broken = { ...policyInput(), now: 'yesterday', extra: 1, scans: [{ tool: 'a' }] }
  assert.throws(
    () => parsePolicyInput(JSON.stringify(broken)),
    /additional properties: extra.*\/now must match.*\/scans\/0/,
  )
  assert.throws(() => parsePolicyInput('{'), /The input is no JSON/)
})
