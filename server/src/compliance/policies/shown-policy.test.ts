import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CelRule, PolicyDefinition } from './policy.schema.ts'
import { compareDefinitions } from './shown-policy.ts'

const rule = (fields: Partial<CelRule> = {}): CelRule => ({
  rule: 'tests',
  name: 'Tests',
  expression: 'true',
  blocking: true,
  reason: null,
  trust: null,
  max_age_ms: null,
  ...fields,
})
const policy = (fields: Partial<PolicyDefinition> = {}): PolicyDefinition => ({
  name: 'p',
  mode: 'enforce',
  bindings: null,
  engine: { type: 'cel', rules: [rule()] },
  ...fields,
})

test('equal definitions do not differ', () => {
  assert.deepEqual(compareDefinitions(policy(), policy()), [])
})

test('the mode, the bindings and the fields of rules are compared by their paths', () => {
  const bindings = { environments: ['production'], repositories: null, branches: null }
  const engine = { type: 'cel' as const, rules: [rule({ expression: 'false' })] }
  assert.deepEqual(compareDefinitions(policy(), policy({ mode: 'monitor', bindings, engine })), [
    { path: 'mode', before: 'enforce', after: 'monitor' },
    { path: 'bindings', before: null, after: bindings },
    { path: 'rules.tests.expression', before: 'true', after: 'false' },
  ])
})

test('an added rule has no state before, and a moved rule changes only the order', () => {
  const [one, two] = [rule(), rule({ rule: 'scans' })]
  const of = (...rules: CelRule[]) => policy({ engine: { type: 'cel', rules } })
  const added = compareDefinitions(of(one), of(one, two))
  assert.deepEqual(added[0], { path: 'rules', before: ['tests'], after: ['tests', 'scans'] })
  assert.deepEqual(
    added.find(({ path }) => path === 'rules.scans.expression'),
    { path: 'rules.scans.expression', before: null, after: 'true' },
  )
  assert.deepEqual(
    compareDefinitions(of(one, two), of(two, one)).map(({ path }) => path),
    ['rules'],
  )
})

test('another engine has other parts', () => {
  const opa = policy({ engine: { type: 'opa', decision: 'a/b', trust: null, max_age_ms: null } })
  const paths = compareDefinitions(policy(), opa).map(({ path }) => path)
  assert.ok(paths.includes('engine') && paths.includes('decision') && paths.includes('rules.tests.expression'))
})
