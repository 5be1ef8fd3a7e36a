import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createErrorAnswer,
  decide,
  decideTogether,
  getResultStatus,
  mergeWorse,
  type PolicyVerdict,
  type RuleStatus,
  type RuleVerdict,
  readVerdicts,
} from './policy-verdict.ts'

const rule = (status: RuleStatus, blocking = true): RuleVerdict => ({
  rule: 'r',
  name: 'r',
  status,
  blocking,
  reason: null,
  evidence: null,
})
const CASES: [rules: RuleVerdict[], enforce: string, monitor: string, result: string][] = [
  [[rule('pass')], 'approve', 'approve', 'passing'],
  [[rule('pass'), rule('fail')], 'block', 'warn', 'failing'],
  [[rule('error')], 'block', 'warn', 'failing'],
  [[rule('warn')], 'warn', 'warn', 'warning'],
  [[rule('fail', false)], 'warn', 'warn', 'warning'],
  [[rule('error', false)], 'warn', 'warn', 'warning'],
  [[rule('pass'), rule('fail', false)], 'approve', 'warn', 'warning'],
  [[rule('pass', false)], 'warn', 'approve', 'passing'],
]

for (const [rules, enforce, monitor, result] of CASES) {
  const answers = rules.map(({ status, blocking }) => `${status}${blocking ? '' : ' without blocking'}`).join(' and ')
  test(`${answers}: ${enforce} in enforce, ${monitor} in monitor, ${result}`, () => {
    assert.deepEqual(
      [decide('enforce', rules), decide('monitor', rules), getResultStatus(rules)],
      [enforce, monitor, result],
    )
  })
}

const policy = (
  mode: PolicyVerdict['mode'],
  decision: PolicyVerdict['decision'],
  path: string | null = null,
): PolicyVerdict => ({
  id: 'p',
  name: 'p',
  version: 1,
  rules: [],
  mode,
  path,
  decision,
})

test('one blocking policy blocks; only policies of the organization in enforce approve', () => {
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('enforce', 'block')]), 'block')
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('monitor', 'warn')]), 'approve')
  assert.equal(decideTogether([policy('enforce', 'warn')]), 'none')
  assert.equal(decideTogether([policy('enforce', 'approve', 'a.yaml')]), 'none')
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('enforce', 'block', 'a.yaml')]), 'block')
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('monitor', 'block')]), 'approve')
  assert.equal(decideTogether([policy('monitor', 'approve')]), 'none')
  assert.equal(decideTogether([]), 'none')
})

test('a shortened reason can be stored as JSON', () => {
  const { reason } = createErrorAnswer(`${'a'.repeat(998)}🦊🦊`)
  assert.equal(reason, `${'a'.repeat(998)}…`)
})

test('by default, a rule is blocking and its id is its name', () => {
  const result = [
    { rule: 'a', status: 'pass', reason: 'not shown' },
    { rule: 'b', name: 'B', status: 'fail', blocking: false, reason: 'why', evidence: { open: 2 } },
  ]
  assert.deepEqual(readVerdicts(result), [
    { rule: 'a', name: 'a', status: 'pass', blocking: true, reason: null, evidence: null },
    { rule: 'b', name: 'B', status: 'fail', blocking: false, reason: 'why', evidence: '{"open":2}' },
  ])
})

const UNREADABLE: [what: string, result: unknown][] = [
  ['an undefined decision', undefined],
  ['not a list', true],
  ['an empty list', []],
  ['too many rules', Array.from({ length: 101 }, () => ({ rule: 'a', status: 'pass' }))],
  ['no status', [{ rule: 'a', status: 'pass' }, { rule: 'b' }]],
  ['an unknown status', [{ rule: 'a', status: 'ok' }]],
  ['no rule id', [{ status: 'pass' }]],
  ['blocking that is not a boolean', [{ rule: 'a', status: 'fail', blocking: 'no' }]],
  ['an item that is null', [null]],
]

for (const [what, result] of UNREADABLE) {
  test(`${what} is one blocking error in place of all rules`, () => {
    const [verdict, ...others] = readVerdicts(result)
    assert.deepEqual([verdict?.status, verdict?.blocking, others], ['error', true, []])
    assert.ok(verdict?.reason)
  })
}

test('of two answers to a rule the worse one counts, and what blocks is worse than what does not', () => {
  const merge = (one: RuleVerdict, other: RuleVerdict) => mergeWorse([one], [other])[0]
  const order = [rule('pass'), rule('warn'), rule('error', false), rule('fail'), rule('error')]
  for (const [at, worse] of order.entries())
    for (const better of order.slice(0, at + 1)) {
      assert.deepEqual(merge(better, worse), worse)
      assert.deepEqual(merge(worse, better), worse)
    }
  const other = { ...rule('fail'), rule: 'other' }
  assert.deepEqual(mergeWorse([rule('pass')], [other]), [rule('pass'), other])
})
