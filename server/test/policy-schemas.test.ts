import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { PUBLISHED_SCHEMAS } from '../src/commands/policy-file.ts'
import { parsePolicyInput } from '../src/compliance/input/policy-input.parser.ts'
import { policyInput } from './support/policies.ts'
import { POLICY_SCHEMAS } from './support/policy-schemas.ts'

const EXAMPLES = new URL('../../docs/policies/', import.meta.url).pathname

for (const { file, content } of POLICY_SCHEMAS) {
  test(`${file.pathname.split('/').at(-1)} is the schema in the source code`, () => {
    assert.equal(readFileSync(file, 'utf8'), content, 'npm run policy-schemas --workspace server')
  })
}

test('every field of the published schemas has a description', () => {
  for (const { properties, anyOf = [] } of Object.values(PUBLISHED_SCHEMAS) as Schema[]) {
    assert.deepEqual(undescribed(properties), [])
    for (const option of anyOf) assert.deepEqual(undescribed(option.properties), [])
  }
})

type Schema = {
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

function undescribed(properties: Record<string, Schema> = {}, path = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const parts = [schema, ...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])]
    const missing = parts.some(({ description }) => description) ? [] : [`${path}/${name}`]
    return [...missing, ...parts.flatMap((part) => undescribed(part.properties, `${path}/${name}`))]
  })
}

test('the policy schema is a valid JSON Schema 2020-12 and accepts every example', () => {
  const check = new Ajv2020({ strict: true, formats: { glob: true, age: true, cel: true } }).compile(
    PUBLISHED_SCHEMAS.policyFile,
  )
  const examples = globSync('*.yaml', { cwd: EXAMPLES })
  assert.ok(examples.length > 0)
  for (const name of examples) assert.ok(check(parse(readFileSync(EXAMPLES + name, 'utf8'))), name)
  assert.ok(check({ name: 'a', mode: 'enforce', engine: 'opa', decision: 'a/b' }))
  assert.ok(!check({ name: 'a', mode: 'enforce', engine: 'opa', rules: [] }))
})

test('a policy input is parsed, and each mistake is reported with its JSON pointer', () => {
  assert.deepEqual(parsePolicyInput(JSON.stringify(policyInput())), policyInput())
  const broken = { ...policyInput(), now: 'yesterday', extra: 1, scans: [{ tool: 'a' }] }
  assert.throws(
    () => parsePolicyInput(JSON.stringify(broken)),
    /additional properties: extra.*\/now must match.*\/scans\/0/,
  )
  assert.throws(() => parsePolicyInput('{'), /The input is not valid JSON/)
})
