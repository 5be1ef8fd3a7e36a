import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { validatePolicyText } from '../../../../server/src/compliance/policy-file/policy.parser.ts'
import { mistakesIn } from './file-mistakes.ts'

const DOCS = new URL('../../../../docs/policies/', import.meta.url)
const SCHEMA = JSON.parse(readFileSync(new URL('policy.schema.json', DOCS), 'utf8'))

test('the example policies have no mistakes', () => {
  const files = readdirSync(DOCS).filter((name) => name.endsWith('.yaml'))
  assert.ok(files.length > 3)
  for (const file of files) assert.deepEqual(mistakesIn(SCHEMA, readFileSync(new URL(file, DOCS), 'utf8')), [], file)
})

/** Mistakes of form, which the server finds at the same fields and lines. */
const WRONG = [
  'name: a\nmode: sometimes\nrules:\n  - rule: a\n    expression: "true"\n',
  'name: a\nmode: enforce\nrules:\n  - rule: a\n    expresion: "true"\n',
  'name: a\nmode: enforce\nrules: []\n',
  'name: a\nmode: enforce\nbindings: {}\nrules:\n  - { rule: a, expression: "true" }\n',
  'name: a\nmode: enforce\nrules:\n  - { rule: A, expression: "true", blocking: perhaps }\n',
  'name: 7\nmode: enforce\nrules:\n  - { rule: a, expression: "true" }\n',
  'name: a\nmode: enforce\nengine: opa\n',
  'name: a\nmode: enforce\nengine: rego\nrules:\n  - { rule: a, expression: "true" }\n',
  'name: a\nmode: enforce\nbindings: { environments: production }\nrules:\n  - { rule: a, expression: "true" }\n',
]

test('mistakes are found in the fields and lines in which the server finds them', () => {
  for (const file of WRONG) {
    const own = mistakesIn(SCHEMA, file).map(({ line, path }) => `${line} ${path}`)
    const of = validatePolicyText(file).mistakes.map(({ line, path }) => `${line} ${path}`)
    assert.deepEqual(own.toSorted(), of.toSorted(), file)
  }
})

test('mistakes of syntax have their line, and no text makes the check fail', () => {
  assert.equal(mistakesIn(SCHEMA, 'name: a\nmode: [enforce\n')[0]?.line, 3)
  for (const file of ['', ' ', '[]', 'null', '{', '- a', '? {a: b}\n: c', '*a', 'a: &a [*a]', 'rules:\n', '!!x "y"'])
    assert.ok(mistakesIn(SCHEMA, file).length > 0, file)
})
