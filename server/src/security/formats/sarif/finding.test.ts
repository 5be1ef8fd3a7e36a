import assert from 'node:assert/strict'
import { test } from 'node:test'
import { levelOf, scannerScoreOf, severityOf, titleOf } from './finding.ts'
import { readRule } from './rule.ts'
import { newComponent, newRun, type SarifRule } from './sarif-run.ts'

const ruleOf = (rule: object) => readRule({ id: 'R', ...rule }, newComponent())
const noteRule = ruleOf({ defaultConfiguration: { level: 'note' } })

test('the level of the result counts first, whatever its kind', () => {
  assert.equal(levelOf(newRun(), { level: 'error' }, noteRule), 'error')
  assert.equal(levelOf(newRun(), { level: 'note', kind: 'review' }, undefined), 'note')
})

test('without a level, a result that did not fail has the level none', () => {
  assert.equal(levelOf(newRun(), { kind: 'open' }, noteRule), 'none')
})

test('a failed result has the default level of its rule, else warning', () => {
  assert.equal(levelOf(newRun(), { kind: 'fail' }, noteRule), 'note')
  assert.equal(levelOf(newRun(), {}, ruleOf({})), 'warning')
  assert.equal(levelOf(newRun(), {}, undefined), 'warning')
})

test('an invocation overrides the default level of the rule for its own results only', () => {
  const run = { ...newRun(), levelsByInvocation: [new Map(), new Map([[noteRule, 'error']])] }
  assert.equal(levelOf(run, { provenance: { invocationIndex: 1 } }, noteRule), 'error')
  assert.equal(levelOf(run, { provenance: { invocationIndex: 0 } }, noteRule), 'note')
  assert.equal(levelOf(run, { provenance: { invocationIndex: -1 } }, noteRule), 'note')
})

test('an unknown level is ignored', () => {
  assert.equal(levelOf(newRun(), { level: 'fatal' }, noteRule), 'note')
})

test('the severities of security-severity begin at 9.0, 7.0, 4.0 and above 0; the result counts before the rule', () => {
  const severities = ['9.0', '8.9', '7.0', '6.9', '4.0', '3.9', '0.1'].map((score) => {
    const result = { properties: { 'security-severity': score } }
    return severityOf(scannerScoreOf(result, ruleOf({ properties: { 'security-severity': '10.0' } })), 'note')
  })
  assert.deepEqual(severities, ['critical', 'high', 'high', 'medium', 'medium', 'low', 'low'])
})

test('a security-severity of 0 of the result or the rule means info, whatever the level', () => {
  for (const score of ['0', '0.0', 0, ' 0 ']) {
    const properties = { 'security-severity': score }
    const ofResult = scannerScoreOf({ properties }, ruleOf({ properties: { 'security-severity': '9.8' } }))
    const ofRule = scannerScoreOf({ level: 'error' }, ruleOf({ properties }))
    assert.deepEqual([ofResult, ofRule], [0, 0])
    assert.equal(severityOf(ofResult, 'error'), 'info')
    assert.equal(severityOf(ofRule, 'error'), 'info')
  }
})

test('a security-severity that is not a score is ignored, and the level counts', () => {
  for (const score of ['undefined', '', ' ', '-1', -0.5, '11', 10.1, null, {}, [0], false, 'NaN', 'none']) {
    const found = scannerScoreOf({ properties: { 'security-severity': score } }, undefined)
    assert.equal(severityOf(found, 'error'), 'high', JSON.stringify(score))
  }
})

test('each level has a severity', () => {
  assert.deepEqual(
    ['error', 'warning', 'note', 'none'].map((level) => severityOf(null, level)),
    ['high', 'medium', 'low', 'info'],
  )
})

const LOCAL = 'tmp.w.scan.semgrep-rules.python.lang.security.audit.exec-detected'
const title = (description: string | null, message: string, ruleId = 'rule', path = 'src/a.py') =>
  titleOf({ rule: { description } as SarifRule, ruleId, message, path })

test("the title is the rule's description", () => {
  assert.equal(title('Use of exec', 'exec(x) is called'), 'Use of exec')
  assert.equal(title(null, 'exec(x) is called\nmore'), 'exec(x) is called')
})

test('the title is the message if the description repeats the rule id or has placeholders', () => {
  const message = 'Detected the use of exec().'
  assert.equal(title(`Semgrep Finding: ${LOCAL}`, message, LOCAL), message)
  assert.equal(title('Opengrep Finding: python.lang.exec-detected', message), message)
  assert.equal(title('B102', message, 'B102'), message)
  assert.equal(title('Probable use of insecure hash functions in `{library}`: `{string}`', message), message)
  assert.equal(title('Possible hardcoded password assigned to: "{}"', message), message)
})

test('the title has no directory of the machine that scanned', () => {
  assert.equal(title(null, `Rule ${LOCAL} matched`, LOCAL), 'Rule python.lang.security.audit.exec-detected matched')
  for (const file of ['/home/ci/build/src/a.py', 'file:///builds/acme/api/src/a.py', 'D:\\a\\api\\src\\a.py']) {
    assert.equal(title(null, `A secret in ${file}.`), 'A secret in src/a.py.', file)
  }
  assert.equal(title(null, 'The route /api/v1/users has no check.'), 'The route /api/v1/users has no check.')
})
