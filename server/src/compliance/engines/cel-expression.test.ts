import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attestationOf, policyInput } from '../../../test/support/policies.ts'
import { createPlainEnvironment, type PolicyInput } from '../policies/policy-input.schema.ts'
import { checkExpression, evaluateExpression, toCelInput } from './cel-expression.ts'

function evaluate(expression: string, input: PolicyInput = policyInput()) {
  assert.equal(checkExpression(expression), null)
  return evaluateExpression(expression, toCelInput(input), input)
}

test('true passes, false fails, and the evidence lists the values that the expression reads', () => {
  assert.deepEqual(evaluate('findings.open.critical == 0 && issues.max_epss < 0.5'), {
    status: 'pass',
    reason: null,
    evidence: 'findings.open.critical = 0; issues.max_epss = 0',
  })
  assert.equal(evaluate('findings.open.critical > 0').status, 'fail')
})

test('a map gives a status, a reason and evidence', () => {
  assert.deepEqual(evaluate('{"status": "warn", "reason": "soon", "evidence": string(findings.open.high)}'), {
    status: 'warn',
    reason: 'soon',
    evidence: '0',
  })
})

test('any other result is an error', () => {
  for (const expression of [
    'dyn(1)',
    'dyn("pass")',
    'dyn(null)',
    '{"status": "ok"}',
    '{"reason": "no status"}',
    'dyn([true])',
  ])
    assert.equal(evaluate(expression).status, 'error', expression)
})

test('an expression that fails at evaluation is an error with a reason', () => {
  const input = policyInput({ attestations: [attestationOf()] })
  const answer = evaluate('attestations.all(a, a.data.covered > 80)', input)
  assert.deepEqual(answer, { status: 'error', reason: 'No such key: covered', evidence: null })
})

test('null members are absent, and has() tests for them', () => {
  assert.equal(evaluate('!has(environment.name) && !has(run.branch)').status, 'pass')
  assert.equal(
    evaluate('has(environment.name)', policyInput({ environment: createPlainEnvironment('production') })).status,
    'pass',
  )
  assert.equal(evaluate('environment.name == "production"').status, 'error')
})

test('times, integers and the free-form data of attestations can be compared', () => {
  const input = policyInput({ attestations: [attestationOf({ data: { failed: 0, lines: 81.5, list: [1] } })] })
  for (const expression of [
    'attestations.exists(a, a.data.failed == 0 && a.data.lines >= 80 && a.data.list[0] == 1)',
    'attestations.all(a, now - a.at < duration("1h"))',
    'attestations.size() == 1 && size(attestations) < 2',
    'attestations.filter(a, a.kind == "sbom").size() == 0',
  ])
    assert.equal(evaluate(expression, input).status, 'pass', expression)
})

test('the type check finds mistakes with their offset', () => {
  const MISTAKES: [expression: string, offset: number][] = [
    ['run.brnch == "main"', 4],
    ['attestations.exists(a, a.knd == "x")', 25],
    ['findings.open.critical == "0"', 0],
    ['nothing == 1', 0],
    ['1 + 1', 0],
    ['run', 0],
    ['run.branch', 0],
    ['run.branch ==', 13],
  ]
  for (const [expression, offset] of MISTAKES) assert.equal(checkExpression(expression)?.offset, offset, expression)
})

test('members of a JavaScript prototype are not visible', () => {
  const input = policyInput({ attestations: [attestationOf()] })
  for (const name of ['constructor', '__proto__', 'toString'])
    assert.equal(evaluate(`attestations.all(a, a.data.${name} != 1)`, input).status, 'error', name)
})

test('the size and depth of an expression are bounded', () => {
  assert.ok(checkExpression(Array.from({ length: 600 }, () => 'true').join(' && ')))
  assert.ok(checkExpression(`${'('.repeat(100)}true${')'.repeat(100)}`))
  assert.ok(checkExpression(`${'!'.repeat(1200)}true`))
})

test('regular expressions are those of RE2, and take linear time on any text', () => {
  const ask = (expression: string, text: string) =>
    evaluate(expression, policyInput({ attestations: [attestationOf({ data: { text } })] }))
  const inData = (pattern: string) => `attestations.all(a, a.data.text.matches(${JSON.stringify(pattern)}))`
  assert.equal(ask(inData('^v[0-9]+[.][0-9]{1,20}$'), 'v1.20').status, 'pass')
  assert.equal(ask(inData('^v[0-9]+[.][0-9]{1,20}$'), 'v1.').status, 'fail')
  assert.equal(evaluate('"a-b".matches("b") && !"a-b".matches("^b")').status, 'pass')
  // The engine of JavaScript needs longer for these than there is.
  for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(a*)*(b|$)*!!$', '(x+x+)+y'])
    assert.equal(ask(inData(pattern), `${'a'.repeat(5000)}${'x'.repeat(5000)}!`).status, 'fail', pattern)
})

test('a regular expression that RE2 does not have is an error', () => {
  for (const pattern of ['a(?=b)', '(a)\\\\1', '('])
    assert.match(evaluate(`"ab".matches("${pattern}")`).reason ?? '', /regexp/, pattern)
})
