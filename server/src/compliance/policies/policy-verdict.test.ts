import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createErrorAnswer,
  decide,
  decideTogether,
  getResultStatus,
  type PolicyVerdict,
  type RuleStatus,
  type RuleVerdict,
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

const policy = (mode: PolicyVerdict['mode'], decision: PolicyVerdict['decision']): PolicyVerdict => ({
  id: 'p',
  name: 'p',
  version: 1,
  rules: [],
  mode,
  decision,
})

test('one blocking policy blocks; only policies in enforce approve', () => {
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('enforce', 'block')]), 'block')
  assert.equal(decideTogether([policy('enforce', 'approve'), policy('monitor', 'warn')]), 'approve')
  assert.equal(decideTogether([policy('enforce', 'warn')]), 'approve')
  assert.equal(decideTogether([policy('monitor', 'approve')]), 'none')
  assert.equal(decideTogether([]), 'none')
})

test('a shortened reason can be stored as JSON', () => {
  const { reason } = createErrorAnswer(`${'a'.repeat(998)}🦊🦊`)
  assert.equal(reason, `${'a'.repeat(998)}…`)
})
