import assert from 'node:assert/strict'
import { test } from 'node:test'
import { titleOf } from './finding.ts'
import type { SarifRule } from './sarif-run.ts'

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
