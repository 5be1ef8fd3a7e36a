import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Static } from 'typebox'
import { Errors } from 'typebox/value'
import { parse } from 'yaml'
import { PUBLISHED_SCHEMAS } from '../src/commands/policy-file.ts'
import { parsePolicyInput } from '../src/compliance/policies/policy-input.parser.ts'
import { ChangeRecordSchema } from '../src/provenance/changes/change-record.schema.ts'
import type { ChangeRecord } from '../src/provenance/changes/change-record.ts'
import { PUBLISHED_PREDICATES } from '../src/provenance/statements/predicate.schema.ts'
import { mergedRecord } from './support/change-records.ts'
import { policyInput } from './support/policies.ts'
import { POLICY_SCHEMAS, PREDICATE_SCHEMAS } from './support/policy-schemas.ts'

const EXAMPLES = new URL('../../docs/policies/', import.meta.url).pathname

for (const { file, content } of [...POLICY_SCHEMAS, ...PREDICATE_SCHEMAS]) {
  test(`${file.pathname.split('/').at(-1)} is the schema in the source code`, () => {
    assert.equal(readFileSync(file, 'utf8'), content, 'npm run policy-schemas --workspace server')
  })
}

test('every field of the published schemas has a description', () => {
  const predicates = PUBLISHED_PREDICATES.map(({ schema }) => schema)
  for (const { properties, anyOf = [] } of [...Object.values(PUBLISHED_SCHEMAS), ...predicates] as Schema[]) {
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

test('the schemas of predicates refuse unknown fields everywhere, and their ids are the predicate types', () => {
  for (const { file, schema } of PUBLISHED_PREDICATES) {
    const text = JSON.stringify(schema)
    assert.equal(text.split('"type":"object"').length, text.split('"additionalProperties":false').length, file)
    const { $id } = schema as { $id?: string }
    assert.equal(`https://shiplock.dev/${file.replace('.v1.schema.json', '/v1')}`, $id)
  }
})

/** The schema and the type of the record are written separately; each must accept the other. */
test('the schema of the change record is that of its type', () => {
  type Predicate = Static<typeof ChangeRecordSchema>
  const toType = (record: Predicate): ChangeRecord => record
  const toSchema = (record: ChangeRecord): Predicate => record
  assert.deepEqual(Errors(ChangeRecordSchema, toSchema(toType({ ...mergedRecord(), deviations: [] }))), [])
})

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
