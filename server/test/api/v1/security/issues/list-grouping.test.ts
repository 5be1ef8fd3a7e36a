import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import { bom, codeResult, listIssues, onlyIssue, packageResult } from '../../../../support/issues.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, scoredResult } from '../../../../support/sarif.ts'

const LODASH = 'pkg:npm/lodash@4.17.20'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const report = (results: object[], tool: string) => uploadReport(api, caller, sarif(results, tool))
/** The codes of the reasons of all findings, sorted. */
const codes = async () => (await listFindings(api, caller)).map(({ grouping_reason: { code } }) => code).sort()

test('one vulnerability of a package by three scanners is one issue of three sources, opened once', async () => {
  const first = await uploadReport(api, caller, bom('Trivy', LODASH, [{ id: 'CVE-2021-23337', severity: 'critical' }]))
  const second = await report([packageResult('CVE-2021-23337', LODASH)], 'Grype')
  const third = await report([packageResult('CVE-2021-23337-lodash', 'pkg:npm/Lodash@4.17.19')], 'osv-scanner')
  const counts = [first, second, third].map((upload) => upload.counts)
  assert.deepEqual(
    counts.map(({ created, newIssues, newCritical, newHigh }) => [created, newIssues, newCritical, newHigh]),
    [
      [1, 1, 1, 0],
      [1, 0, 0, 0],
      [1, 0, 0, 0],
    ],
  )
  const issue = await onlyIssue(api, caller)
  assert.deepEqual(
    issue.sources.map(({ scanner }: { scanner: string }) => scanner),
    ['Trivy', 'Grype', 'osv-scanner'],
  )
  assert.deepEqual([issue.synthetic, issue.member_count, issue.source_count], [false, 3, 3])
  for (const { issue_id, grouping_reason } of await listFindings(api, caller)) {
    assert.equal(issue_id, issue.id)
    assert.equal(grouping_reason.code, 'same_vulnerability')
    assert.match(grouping_reason.detail, /^CVE-2021-23337 in the package [Ll]odash\.$/)
    assert.equal(grouping_reason.at, api.clock.now().toISOString())
  }
})

test('another package, another ecosystem and another vulnerability are separate issues', async () => {
  await report(
    [packageResult('CVE-2021-1001', 'pkg:npm/requests@1'), packageResult('CVE-2021-1002', 'pkg:npm/requests@1')],
    'Grype',
  )
  await report(
    [packageResult('CVE-2021-1001', 'pkg:pypi/requests@1'), packageResult('CVE-2021-1001', 'pkg:npm/other@1')],
    'Trivy',
  )
  assert.equal((await listIssues(api, caller)).length, 4)
  assert.deepEqual(await codes(), ['single', 'single', 'single', 'single'])
})

test('newIssues counts what a report splits off and leaves open, not what it closes', async () => {
  const marked = (tool: string, lines: [number, number]) => ({
    ...codeResult(`${tool}/sql-injection`, 'src/a.ts', lines, 'eval(x)'),
    fingerprints: { name: tool },
  })
  for (const [tool, lines] of [
    ['One', [1, 4]],
    ['Two', [4, 8]],
    ['Three', [8, 12]],
  ] as const)
    await report([marked(tool, [...lines])], tool)
  assert.equal((await onlyIssue(api, caller)).member_count, 3)
  const moved = await report([marked('Two', [50, 54])], 'Two')
  assert.deepEqual([moved.counts.resolved, moved.counts.newIssues], [0, 2])
  const { counts } = await report([], 'Two')
  assert.deepEqual([counts.resolved, counts.newIssues], [1, 0])
  assert.deepEqual((await listIssues(api, caller)).map(({ status }) => status).sort(), ['fixed', 'open', 'open'])
})

test('results that a report tells apart at one line are issues of their own', async () => {
  const at = (message: string, fields: object) => ({
    ...codeResult('js/xss', 'src/a.ts', [10, 10]),
    message: { text: message },
    ...fields,
  })
  const hash = (primaryLocationLineHash: string) => ({ partialFingerprints: { primaryLocationLineHash } })
  await report([at('Value one', hash('aaaa:1')), at('Value two', hash('aaaa:2'))], 'CodeQL')
  const pool = (id: string) => ({ ...codeResult('unchecked', 'c/Pool.sol', [20, 60]), partialFingerprints: { id } })
  await report([pool('1'), pool('2')], 'Slither')
  const malicious = (name: string) => ({
    ruleId: 'malicious-package',
    message: { text: `Malicious package ${name}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'package.json' } } }],
  })
  await report([malicious('evil-a 1.0'), malicious('evil-b 2.0')], 'JFrog Xray')
  assert.deepEqual(await codes(), Array(6).fill('single'))
})

test('newHigh and newCritical count issues by their severity', async () => {
  const upload = await report(
    [scoredResult('a', 9.9), scoredResult('b', 7), scoredResult('c', 7.5), scoredResult('d', 1)],
    'One',
  )
  const { newIssues, newCritical, newHigh } = upload.counts
  assert.deepEqual([newIssues, newCritical, newHigh], [4, 1, 2])
})

test('a weakness that two tools see at overlapping lines is one issue, at lines apart it is two', async () => {
  await report([codeResult('js/sql-injection', 'src/db.ts', [10, 14])], 'One')
  api.clock.advance(1)
  await report([codeResult('security/sql-injection', 'src/db.ts', [14, 20])], 'Two')
  const { sources, location } = await onlyIssue(api, caller)
  assert.equal(sources.length, 2)
  assert.deepEqual(location, { path: 'src/db.ts', start_line: 10, end_line: 14 })
  assert.deepEqual(await codes(), ['same_location', 'same_location'])
  await report([codeResult('other/sql-injection', 'src/db.ts', [40, 41])], 'Three')
  await report([codeResult('path-traversal', 'src/db.ts', [12, 12])], 'Four')
  assert.equal((await listIssues(api, caller)).length, 3)
})

test('the same code at other lines is another issue', async () => {
  const code = 'db.query("select " + input)'
  await report([codeResult('js/sql-injection', 'src/db.ts', [10, 10], code)], 'One')
  await report([codeResult('security/sql-injection', 'src/db.ts', [30, 30], `  ${code}\n`)], 'Two')
  assert.equal((await listIssues(api, caller)).length, 2)
  assert.deepEqual(await codes(), ['single', 'single'])
})

test('one message of a rule at three places of a file is three issues, by two tools at one place one', async () => {
  await report(
    [1, 50, 90].map((line) => codeResult('no-eval', 'src/a.ts', [line, line])),
    'One',
  )
  assert.deepEqual(await codes(), ['single', 'single', 'single'])
  await report([codeResult('no-eval', 'src/a.ts', [50, 50])], 'Two')
  assert.deepEqual((await listIssues(api, caller)).map(({ member_count }) => member_count).sort(), [1, 1, 2])
})

test('one secret in two files by two scanners is one issue, two secrets of one file are two', async () => {
  await report([codeResult('aws-key', 'a.env', [1, 1], 'AKIAIOSFODNN7EXAMPLE')], 'gitleaks')
  await report([codeResult('AWS', 'b.env', [7, 7], 'AKIAIOSFODNN7EXAMPLE')], 'trufflehog')
  const issue = await onlyIssue(api, caller)
  assert.deepEqual([issue.kind, issue.member_count], ['secret', 2])
  assert.deepEqual(await codes(), ['same_secret', 'same_secret'])
  await report([codeResult('aws-key', 'b.env', [9, 9], 'AKIAI44QH8DHBEXAMPLE')], 'ggshield')
  assert.equal((await listIssues(api, caller)).length, 2)
})

test('secrets that a report redacts are identified by their lines, with any placeholder', async () => {
  const redacted = (uri: string, line: number) => ({
    ...codeResult('generic-api-key', uri, [line, line], 'REDACTED'),
    partialFingerprints: { commitSha: 'a1b2c3d', author: 'Ada' },
  })
  await report([redacted('a.env', 1), redacted('a.env', 9), redacted('b.env', 1)], 'gitleaks')
  assert.deepEqual(await codes(), ['single', 'single', 'single'])
  await report([codeResult('generic-api-key', 'b.env', [1, 1], 'token = "*******"')], 'ggshield')
  assert.deepEqual(await codes(), ['same_secret', 'same_secret', 'single', 'single'])
  assert.equal((await listIssues(api, caller)).length, 3)
})

const SHELL = 'python.lang.security.audit.subprocess-shell-true'
const withCwe = (cwe: string, result: object) => ({ ...result, properties: { cwe } })
/** The rules of the findings of each issue, sorted. */
const rulesByIssue = async () => {
  const byIssue = Map.groupBy(await listFindings(api, caller), ({ issue_id }) => issue_id)
  return [...byIssue.values()].map((findings) => findings.map(({ rule_id }) => rule_id).sort()).sort()
}

test('rules that the rule map equates are one issue; two rules of one scanner are two issues', async () => {
  await report([withCwe('CWE-78', codeResult('B602', 'a.py', [7, 7])), codeResult('B607', 'a.py', [7, 7])], 'Bandit')
  await report([codeResult('S602', 'a.py', [7, 7]), codeResult('S607', 'a.py', [7, 7])], 'ruff')
  const local = `home.ci.semgrep-rules.${SHELL}`
  await report([withCwe('CWE-78', codeResult(local, 'a.py', [7, 9]))], 'Semgrep OSS')
  assert.deepEqual(await rulesByIssue(), [
    ['B602', 'S602', local],
    ['B607', 'S607'],
  ])
})

test('gosec that golangci-lint runs is the same scanner', async () => {
  const code = 'os.Open(name)'
  await report([codeResult('G304', 'a.go', [7, 7], code), codeResult('G306', 'a.go', [7, 7], code)], 'gosec')
  const wrapped = { ...codeResult('gosec', 'a.go', [7, 7], code), message: { text: 'G304: Potential file inclusion' } }
  await report([wrapped], 'golangci-lint')
  assert.deepEqual(await rulesByIssue(), [['G304', 'gosec'], ['G306']])
})

test("a secret and a scanner for code's finding of it are one issue of kind secret", async () => {
  await report([codeResult('generic-api-key', 'a.py', [7, 7], 'tr0ub4dor')], 'gitleaks')
  await report([withCwe('CWE-259', codeResult('B105', 'a.py', [7, 7], 'password = "tr0ub4dor"'))], 'Bandit')
  const semgrep = 'generic.secrets.security.detected-generic-secret.detected-generic-secret'
  await report([codeResult(semgrep, 'a.py', [6, 8])], 'Semgrep OSS')
  const { kind, member_count } = await onlyIssue(api, caller)
  assert.deepEqual([kind, member_count], ['secret', 3])
  const findings = await listFindings(api, caller)
  assert.equal(findings.find(({ scanner }) => scanner === 'Semgrep OSS')?.kind, 'secret')
})

test('findings about one control of one resource are one issue, wherever the scanners place them', async () => {
  const block = (name: string) => `resource "aws_s3_bucket" "${name}" {\n  bucket = "x"\n}`
  const checkov = (name: string, from: number) => codeResult('CKV_AWS_19', 'main.tf', [from, from + 9], block(name))
  await report([checkov('logs', 1), checkov('data', 20)], 'checkov')
  await report([codeResult('aws-s3-enable-bucket-encryption', 'main.tf', [4, 4])], 'defsec')
  const inData = { ...codeResult('AVD-AWS-0088', 'main.tf', [1, 10]), message: { text: 'aws_s3_bucket[data] is open' } }
  await report([inData], 'tfsec')
  assert.deepEqual(await rulesByIssue(), [
    ['AVD-AWS-0088', 'CKV_AWS_19'],
    ['CKV_AWS_19', 'aws-s3-enable-bucket-encryption'],
  ])
  const findings = await listFindings(api, caller)
  assert.ok(findings.every(({ kind }) => kind === 'iac'))
})

test('findings of two repositories are never one issue', async () => {
  for (const repository of ['acme/one', 'acme/two']) {
    await uploadReport(api, caller, bom('Trivy', LODASH, [{ id: 'CVE-2021-1001' }]), { repository })
  }
  assert.equal((await listIssues(api, caller)).length, 2)
})
