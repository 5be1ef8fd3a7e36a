import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { readLevel, readScannerScore, selectTitle, toSeverity } from './finding.ts'
import { NO_PACKAGE } from './package-facts.ts'
import { readRule } from './rule.ts'
import { createComponent, createRun, type SarifRule } from './sarif-run.ts'

const ruleOf = (rule: object) => readRule({ id: 'R', ...rule }, createComponent())
const noteRule = ruleOf({ defaultConfiguration: { level: 'note' } })

test('the level of the result counts first, whatever its kind', () => {
  assert.equal(readLevel(createRun(), { level: 'error' }, noteRule), 'error')
  assert.equal(readLevel(createRun(), { level: 'note', kind: 'review' }, undefined), 'note')
})

test('without a level, a result that did not fail has the level none', () => {
  assert.equal(readLevel(createRun(), { kind: 'open' }, noteRule), 'none')
})

test('a failed result has the default level of its rule, else warning', () => {
  assert.equal(readLevel(createRun(), { kind: 'fail' }, noteRule), 'note')
  assert.equal(readLevel(createRun(), {}, ruleOf({})), 'warning')
  assert.equal(readLevel(createRun(), {}, undefined), 'warning')
})

test('an invocation overrides the default level of the rule for its own results only', () => {
  const run = { ...createRun(), levelsByInvocation: [new Map(), new Map([[noteRule, 'error']])] }
  assert.equal(readLevel(run, { provenance: { invocationIndex: 1 } }, noteRule), 'error')
  assert.equal(readLevel(run, { provenance: { invocationIndex: 0 } }, noteRule), 'note')
  assert.equal(readLevel(run, { provenance: { invocationIndex: -1 } }, noteRule), 'note')
})

test('an unknown level is ignored', () => {
  assert.equal(readLevel(createRun(), { level: 'fatal' }, noteRule), 'note')
})

test('the severities of security-severity begin at 9.0, 7.0, 4.0 and above 0; the result counts before the rule', () => {
  const severities = ['9.0', '8.9', '7.0', '6.9', '4.0', '3.9', '0.1'].map((score) => {
    const result = { properties: { 'security-severity': score } }
    return toSeverity(readScannerScore(result, ruleOf({ properties: { 'security-severity': '10.0' } })), 'note')
  })
  assert.deepEqual(severities, ['critical', 'high', 'high', 'medium', 'medium', 'low', 'low'])
})

test('a security-severity of 0 of the result or the rule means info, whatever the level', () => {
  for (const score of ['0', '0.0', 0, ' 0 ']) {
    const properties = { 'security-severity': score }
    const ofResult = readScannerScore({ properties }, ruleOf({ properties: { 'security-severity': '9.8' } }))
    const ofRule = readScannerScore({ level: 'error' }, ruleOf({ properties }))
    assert.deepEqual([ofResult, ofRule], [0, 0])
    assert.equal(toSeverity(ofResult, 'error'), 'info')
    assert.equal(toSeverity(ofRule, 'error'), 'info')
  }
})

test('a security-severity that is not a score is ignored, and the level counts', () => {
  for (const score of ['undefined', '', ' ', '-1', -0.5, '11', 10.1, null, {}, [0], false, 'NaN', 'none']) {
    const found = readScannerScore({ properties: { 'security-severity': score } }, undefined)
    assert.equal(toSeverity(found, 'error'), 'high', JSON.stringify(score))
  }
})

test('each level has a severity', () => {
  assert.deepEqual(
    ['error', 'warning', 'note', 'none'].map((level) => toSeverity(null, level)),
    ['high', 'medium', 'low', 'info'],
  )
})

const LOCAL = 'tmp.w.scan.semgrep-rules.python.lang.security.audit.exec-detected'
const title = (description: string | null, message: string, ruleId = 'rule', path = 'src/a.py') =>
  selectTitle({
    rule: { description, name: null as string | null } as SarifRule,
    ruleId,
    message,
    path,
    kind: 'code',
    vulnIds: [],
    about: NO_PACKAGE,
  })

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

const dependency = (description: string | null, message: string, name: string | null = null) =>
  selectTitle({
    rule: { description, name } as SarifRule,
    ruleId: 'CVE-2024-1000',
    message,
    path: null,
    kind: 'dependency',
    vulnIds: ['CVE-2024-1000'],
    about: { ...NO_PACKAGE, name: 'zlib' },
  })

test('a heading, an address, filler and a label with a value are no title', () => {
  for (const nothing of [
    '### Impact',
    '**Summary**',
    'https://x.example/1',
    'More details at',
    'Description of problem:',
    'Severity: High',
    'Package         : zlib',
    'No description is available for this CVE.',
    'N/A',
    '-',
    'CVE-2024-1000',
    'CVE-2019-5188 Severity=Medium Package=e2fsprogs Type=dpkg',
  ]) {
    assert.equal(dependency(nothing, 'Package: zlib'), 'CVE-2024-1000 in zlib', nothing)
  }
  for (const title of ['openssl: information disclosure', '# Uncontrolled recursion', 'CVE-2024-1: a flaw in zlib']) {
    assert.equal(dependency(title, 'x'), title.replace('# ', ''))
  }
})

test('a rule whose description says nothing gives its name, if that is one for people', () => {
  const named = (name: string) =>
    selectTitle({
      rule: { description: 'More details at', name } as SarifRule,
      ruleId: 'tls-version',
      message: 'TLS Version found',
      path: null,
      kind: 'code',
      vulnIds: [],
      about: NO_PACKAGE,
    })
  assert.equal(named('TLS Version'), 'TLS Version')
  assert.equal(named('TlsVersionCheck'), 'TLS Version found')
  assert.equal(named('tls-version'), 'TLS Version found')
})

const severity = async (result: object, rule: object = {}) => {
  const run = { tool: { driver: { name: 'T', rules: [{ id: 'R', ...rule }] } }, results: [{ ruleId: 'R', ...result }] }
  return (await parseReport({ version: '2.1.0', runs: [run] })).findings[0]?.severity
}

test('the word in the properties of the result, then of the rule, counts after the score and before the level', async () => {
  const word = (text: string, name = 'severity') => ({ properties: { [name]: text } })
  assert.equal(await severity({ level: 'note', ...word('High', 'Severity') }), 'high')
  assert.equal(await severity({ level: 'error', ...word('Informational') }, word('critical')), 'info')
  assert.equal(await severity({ level: 'error' }, word('low')), 'low')
  assert.equal(await severity({ level: 'error', ...word('unheard of') }), 'high')
  assert.equal(await severity({ properties: { severity: 'low', 'security-severity': '9.1' } }), 'critical')
})

test('a result of an unknown kind failed', async () => {
  assert.equal(await severity({ kind: 'vulnerability' }, { defaultConfiguration: { level: 'error' } }), 'high')
})
