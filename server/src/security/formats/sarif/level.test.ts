import assert from 'node:assert/strict'
import { test } from 'node:test'
import { levelOf, scannerScoreOf, severityOf } from './level.ts'
import { readRule } from './rule.ts'
import { newComponent, newRun } from './sarif-run.ts'

const ruleOf = (rule: object) => readRule({ id: 'R', ...rule }, newComponent())
const noteRule = ruleOf({ defaultConfiguration: { level: 'note' } })

test('a stated level wins, whatever the kind', () => {
  assert.equal(levelOf(newRun(), { level: 'error' }, noteRule), 'error')
  assert.equal(levelOf(newRun(), { level: 'note', kind: 'review' }, undefined), 'note')
})

test('without a level, a result that did not fail has none', () => {
  assert.equal(levelOf(newRun(), { kind: 'open' }, noteRule), 'none')
})

test('a failed result takes the rule default, else warning', () => {
  assert.equal(levelOf(newRun(), { kind: 'fail' }, noteRule), 'note')
  assert.equal(levelOf(newRun(), {}, ruleOf({})), 'warning')
  assert.equal(levelOf(newRun(), {}, undefined), 'warning')
})

test('an invocation overrides the rule default for its own results only', () => {
  const run = { ...newRun(), levelsByInvocation: [new Map(), new Map([[noteRule, 'error']])] }
  assert.equal(levelOf(run, { provenance: { invocationIndex: 1 } }, noteRule), 'error')
  assert.equal(levelOf(run, { provenance: { invocationIndex: 0 } }, noteRule), 'note')
  assert.equal(levelOf(run, { provenance: { invocationIndex: -1 } }, noteRule), 'note')
})

test('an unknown level counts as absent', () => {
  assert.equal(levelOf(newRun(), { level: 'fatal' }, noteRule), 'note')
})

test('security-severity decides at 9.0, 7.0, 4.0 and above 0, the result before the rule', () => {
  const severities = ['9.0', '8.9', '7.0', '6.9', '4.0', '3.9', '0.1'].map((score) => {
    const result = { properties: { 'security-severity': score } }
    return severityOf(scannerScoreOf(result, ruleOf({ properties: { 'security-severity': '10.0' } })), 'note')
  })
  assert.deepEqual(severities, ['critical', 'high', 'high', 'medium', 'medium', 'low', 'low'])
})

test('a security-severity that is no score leaves it to the level', () => {
  for (const score of ['undefined', '', ' ', '0.0', '-1', '11', null, {}, 'NaN']) {
    const found = scannerScoreOf({ properties: { 'security-severity': score } }, undefined)
    assert.equal(severityOf(found, 'error'), 'high', JSON.stringify(score))
  }
})

test('levels map to severities', () => {
  assert.deepEqual(
    ['error', 'warning', 'note', 'none'].map((level) => severityOf(null, level)),
    ['high', 'medium', 'low', 'info'],
  )
})
