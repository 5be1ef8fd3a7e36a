import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { offersAt } from './completions.ts'

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../../../docs/policies/policy.schema.json', import.meta.url), 'utf8'),
)

/** The labels that are offered where the text has a `|`. */
function offered(marked: string): string[] {
  const at = marked.indexOf('‸')
  return offersAt(SCHEMA, marked.replace('‸', ''), at)?.offers.map(({ label }) => label) ?? []
}

test('the fields of the file that are not there yet', () => {
  assert.deepEqual(offered('name: a\n‸'), ['mode', 'bindings', 'scope', 'engine', 'rules'])
  assert.deepEqual(offered('na‸\nmode: enforce\nrules:\n  - rule: a\n'), ['name', 'bindings', 'scope', 'engine'])
})

/** The fields that say what evidence counts. */
const TERMS = ['trust', 'bad_news', 'absent_evidence', 'evidence', 'tools', 'max_age']

test('the fields of bindings and of each rule', () => {
  assert.deepEqual(offered('bindings:\n  environments: [a]\n  ‸'), ['repositories', 'branches', 'workflows'])
  const rule = ['name', 'expression', 'blocking', 'reason', ...TERMS]
  assert.deepEqual(offered('rules:\n  - rule: a\n    ‸'), rule)
  assert.deepEqual(offered('rules:\n  - rule: a\n    name: A\n  - ‸'), ['rule', ...rule])
  assert.deepEqual(offered('rules:\n  - rule: a\n    ‸\n    reason: b\n  - rule: b\n    name: c\n'), [
    ...['name', 'expression', 'blocking', ...TERMS],
  ])
})

test('the values of fields', () => {
  assert.deepEqual(offered('mode: ‸'), ['monitor', 'enforce'])
  assert.deepEqual(offered('mode: en‸'), ['monitor', 'enforce'])
  assert.deepEqual(offered('engine: ‸'), ['cel', 'opa', 'wasm'])
  assert.deepEqual(offered('rules:\n  - rule: a\n    blocking: ‸'), ['true', 'false'])
  assert.deepEqual(offered('rules:\n  - rule: a\n    max_age: ‸'), ['7d', '12h', '30m'])
  assert.deepEqual(offered('bindings:\n  environments: [a, ‸'), ['*'])
})

test('the fields of another engine follow from its name', () => {
  assert.deepEqual(offered('engine: opa\n‸'), ['name', 'mode', 'bindings', 'scope', 'decision', ...TERMS])
})

test('nothing inside of comments, block texts and unknown fields', () => {
  assert.deepEqual(offered('# mo‸'), [])
  assert.deepEqual(offered('rules:\n  - rule: a\n    expression: |\n      ‸'), [])
  assert.deepEqual(offered('unknown:\n  ‸'), [])
})
