import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Permission } from '../../api/session.ts'
import type { Deployment } from '../facts/deployment-state.ts'
import { answerOptions, blockingPolicies, type Decision, missingForOverride, reasonMistake } from './answer-options.ts'

const WAITING = { status: 'pending_approval', custom_rule_state: 'pending', policy_evaluation: null }

function optionsOf(fields: object, permissions: Permission[], refused: object = {}) {
  const deployment = { ...WAITING, ...fields } as Deployment
  const decision = { refused: { approve: null, reject: null, ...refused } } as Decision
  return answerOptions({ deployment, decision, permissions }).map(({ kind, refusal }) => [kind, refusal])
}

const BLOCKED = { policy_evaluation: { decision: 'block' } }

test('who may answer gates approves and rejects', () => {
  const options = optionsOf({}, ['answer_deployment_gates'])
  assert.deepEqual(options, [
    ['approve', null],
    ['reject', null],
  ])
})

test('a blocking policy is overridden with the permission for it, which does not reject', () => {
  const [[approval, refusal], [, rejection]] = optionsOf(BLOCKED, ['override_compliance']) as [string[], string[]]
  assert.deepEqual([approval, refusal], ['override', null])
  assert.match(rejection ?? '', /Answer deployment gates/)
  const [[, missing]] = optionsOf(BLOCKED, ['view']) as [string[]]
  assert.match(missing ?? '', /^Approving against a blocking policy needs the permission “Override compliance”/)
})

test('an override by somebody with one of its two permissions needs a second person', () => {
  assert.deepEqual(optionsOf(BLOCKED, ['answer_deployment_gates'])[0], ['override', null])
  assert.match(missingForOverride(['answer_deployment_gates']) ?? '', /“Override compliance”/)
  assert.match(missingForOverride(['override_compliance']) ?? '', /“Answer deployment gates”/)
  assert.equal(missingForOverride(['override_compliance', 'answer_deployment_gates']), null)
})

test('what the server refuses comes before the permission', () => {
  const refused = { approve: { code: 'run_creator_refused', message: 'You opened this deployment.' } }
  assert.deepEqual(optionsOf({}, [], refused)[0], ['approve', 'You opened this deployment.'])
})

test('nothing can be answered once the rule is decided', () => {
  assert.deepEqual(optionsOf({ custom_rule_state: 'approved' }, ['answer_deployment_gates']), [])
  assert.deepEqual(optionsOf({ status: 'expired' }, ['answer_deployment_gates']), [])
})

test('the rules that an approval overrides are those that block', () => {
  const rules = [
    { rule: 'a', blocking: true, status: 'fail' },
    { rule: 'b', blocking: false, status: 'fail' },
    { rule: 'c', blocking: true, status: 'pass' },
    { rule: 'd', blocking: true, status: 'error' },
  ]
  const policies = [
    { name: 'One', decision: 'block', rules },
    { name: 'Two', decision: 'warn', rules },
    { name: 'Lost', decision: 'block', rules: null },
  ]
  const found = blockingPolicies({ policies } as unknown as Decision)
  assert.deepEqual(
    found.map(({ name, rules }) => [name, rules.map(({ rule }) => rule)]),
    [
      ['One', ['a', 'd']],
      ['Lost', []],
    ],
  )
})

test('a reason has 10 to 500 characters, not counting white space around it', () => {
  assert.match(reasonMistake(' ') ?? '', /State why/)
  assert.match(reasonMistake('123456789   ') ?? '', /at least 10/)
  assert.equal(reasonMistake('1234567890'), null)
  assert.equal(reasonMistake('😀'.repeat(500)), null)
  assert.match(reasonMistake('x'.repeat(501)) ?? '', /at most 500/)
})
