import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { readRule } from './rule.ts'
import { createComponent, createRun } from './sarif-run.ts'
import { classifyScanner } from './scanner-kind.ts'
import { classifyResult, listVulnerabilities, readPackage } from './subject.ts'

const ruleOf = (rule: object) => readRule({ id: 'R', ...rule }, createComponent())
const kind = (tool: string, rule: object, ruleId = 'R') =>
  classifyResult({ ...createRun(), kind: classifyScanner(tool) }, ruleOf(rule), ruleId)
const tags = (...names: string[]) => ({ properties: { tags: names } })

test('the kind depends on the scanner', () => {
  const kinds = ['CodeQL', 'Gitleaks', 'checkov', 'Hadolint', 'grype', 'Snyk Open Source', 'Snyk IaC', 'SnykCode']
  assert.deepEqual(
    kinds.map((tool) => kind(tool, {})),
    ['code', 'secret', 'iac', 'container', 'dependency', 'dependency', 'iac', 'code'],
  )
})

test('the name under which tfsec reports, and other scanners of infrastructure, make findings of kind iac', () => {
  for (const tool of ['defsec', 'tfsec', 'kube-score', 'KICS', 'terrascan', 'Template Analyzer', 'ansible-lint'])
    assert.equal(kind(tool, {}), 'iac', tool)
  for (const tool of ['zizmor', 'actionlint', 'poutine']) assert.equal(kind(tool, {}), 'code', tool)
})

test("Semgrep's rules for secrets and infrastructure make findings of that kind, also with local paths", () => {
  const kinds: [ruleId: string, expected: string][] = [
    ['generic.secrets.security.detected-private-key.detected-private-key', 'secret'],
    ['home.ci.semgrep-rules.generic.secrets.gitleaks.generic-api-key', 'secret'],
    ['terraform.aws.security.aws-s3-bucket-public', 'iac'],
    ['tmp.rules.semgrep-rules.dockerfile.security.missing-user', 'iac'],
    ['yaml.kubernetes.security.run-as-non-root', 'iac'],
    ['yaml.github-actions.security.run-shell-injection', 'code'],
    ['python.lang.security.audit.exec-detected', 'code'],
  ]
  for (const [ruleId, expected] of kinds) assert.equal(kind('Semgrep OSS', {}, ruleId), expected, ruleId)
})

test('a scanner with several kinds of findings marks its rules', () => {
  assert.equal(kind('Trivy', tags('vulnerability', 'security', 'HIGH')), 'dependency')
  assert.equal(kind('Trivy', tags('misconfiguration', 'security')), 'iac')
  assert.equal(kind('Trivy', tags('secret', 'security')), 'secret')
  assert.equal(kind('Trivy', tags('license')), 'license')
  assert.equal(kind('KICS', { name: 'Passwords And Secrets - Generic Password' }), 'secret')
  assert.equal(kind('KICS', { name: 'Secrets As Environment Variables' }), 'iac')
})

test('rules of a scanner of packages that are about secrets, licenses or infrastructure say so by their ids', () => {
  const kinds: [tool: string, ruleId: string, expected: string][] = [
    ['Trivy', 'generic-api-key', 'secret'],
    ['Trivy', 'aws-access-key-id', 'secret'],
    ['Trivy', 'github-pat', 'secret'],
    ['Trivy', 'private-key', 'secret'],
    ['Trivy', 'DS002', 'iac'],
    ['Trivy', 'AWS-0086', 'iac'],
    ['cargo-deny', 'license-denied', 'license'],
    ['cargo-deny', 'cargo-deny/rejected', 'license'],
    ['cargo-deny', 'cargo-deny/unlicensed', 'license'],
    ['cargo-deny', 'cargo-deny/banned', 'dependency'],
    ['JFrog Xray', 'malicious-package', 'dependency'],
    ['Grype', 'CVE-2024-1000-secret-token', 'dependency'],
    ['ESLint', 'license-header', 'code'],
    ['Scan', 'CSCAN0050/0', 'secret'],
    ['SonarQube', 'secrets:S6290', 'secret'],
    ['Horusec', 'HS-LEAKS-12', 'secret'],
  ]
  for (const [tool, ruleId, expected] of kinds) assert.equal(kind(tool, {}, ruleId), expected, ruleId)
})

test('a rule id that is a vulnerability id makes a dependency finding, one that contains it does not', () => {
  assert.equal(kind('Unheard of', {}, 'CVE-2021-44228'), 'dependency')
  assert.equal(kind('Unheard of', {}, 'java.log4j.cve-2021-44228'), 'code')
})

test('a vulnerability that a description only mentions is not one of the finding', () => {
  const rule = ruleOf({ id: 'CVE-2021-45046', shortDescription: { text: 'log4j: incomplete fix for CVE-2021-44228' } })
  assert.deepEqual(listVulnerabilities({}, rule, 'CVE-2021-45046'), ['CVE-2021-45046'])
})

test('the fixed version of another package with the same rule is not used', () => {
  const rule = ruleOf({ help: { text: 'Package: libssl\nFixed Version: 1.1.1d' } })
  const stated = (name: string) =>
    readPackage({}, rule, `Package: ${name}\nInstalled Version: 1.0\nFixed Version: \nLink: x`, undefined)
  assert.equal(stated('libssl').fixedVersion, '1.1.1d')
  assert.deepEqual(stated('libcrypto'), { name: 'libcrypto', version: '1.0', fixedVersion: null, purl: null })
})

test('a package URL in the properties is the package', () => {
  assert.deepEqual(readPackage({ properties: { purl: 'pkg:npm/lodash@4.17.1' } }, undefined, '', undefined), {
    name: 'lodash',
    version: '4.17.1',
    fixedVersion: null,
    purl: 'pkg:npm/lodash@4.17.1',
  })
})

/** What is read of one result: the kind, package, version, fix and vulnerabilities. */
type Read = [kind: string, name: string | null, version: string | null, fix: string | null, ids: string]

const at = (uri: string, region: object = {}) => ({
  locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
})
const scout = {
  id: 'CVE-2023-4039',
  help: { markdown: '| Package | pkg:deb/debian/gcc-12@12.2 |\n|---|---|\n| Fixed version | not fixed |' },
  properties: { fixed_version: 'not fixed', purls: ['pkg:deb/debian/gcc-12@12.2', 'pkg:deb/debian/libgcc@12.2'] },
}
const REFERENCES = '[a](https://github.com/advisories/GHSA-2c4m-59x9-fr2g) and https://x.example/CVE-2023-29401'

/** How tools state a vulnerable package, after their real reports. */
const REPORTS: [title: string, tool: string, result: object, rule: object, expected: Read][] = [
  [
    'Black Duck: in the rule id, with a license rule that has none',
    'Synopsys Black Duck Intelligent',
    { message: { text: 'An incomplete fix for CVE-2020-9484.' }, ...at('pom.xml') },
    { id: 'BDSA-2021-0375:Apache Tomcat:9.0.31', shortDescription: { text: 'BDSA-2021-0375|CVE-2021-25329: Tomcat' } },
    ['dependency', 'Apache Tomcat', '9.0.31', null, 'BDSA-2021-0375 CVE-2021-25329'],
  ],
  [
    'Docker Scout: in aligned lines of the message',
    'docker scout',
    {
      message: { text: '  Severity      : LOW\n  Package       : pkg:deb/debian/gcc-12@12.2\n  Fixed version : 12.3' },
    },
    scout,
    ['dependency', 'gcc-12', '12.2', '12.3', 'CVE-2023-4039'],
  ],
  [
    'Docker Scout: in the table of the help',
    'docker scout',
    { message: { text: 'x' }, ...at('/var/lib/dpkg/status') },
    scout,
    ['dependency', 'gcc-12', '12.2', null, 'CVE-2023-4039'],
  ],
  [
    'Xray: in the rule id',
    'JFrog Xray Scanner',
    { message: { text: '[CVE-2022-25878] protobufjs 6.11.2' }, ...at('package.json') },
    { id: 'CVE-2022-25878_protobufjs_6.11.2' },
    ['dependency', 'protobufjs', '6.11.2', null, 'CVE-2022-25878'],
  ],
  [
    'Semgrep Supply Chain: in a sentence, the version in the flagged line, the ids in the help',
    'Semgrep OSS',
    {
      message: { text: 'Affected versions of github.com/gin-gonic/gin are vulnerable to Download of Code.' },
      ...at('go.mod', { snippet: { text: '\tgithub.com/gin-gonic/gin v1.6.3 // indirect' } }),
    },
    { id: 'ssc-parity-0ddf', help: { markdown: REFERENCES } },
    ['dependency', 'github.com/gin-gonic/gin', 'v1.6.3', null, 'CVE-2023-29401 GHSA-2c4m-59x9-fr2g'],
  ],
  [
    'cargo-deny: in fingerprints',
    'cargo-deny',
    {
      message: { text: 'Marvin Attack' },
      partialFingerprints: { 'cargo-deny/advisory-id': 'RUSTSEC-2023-0071', 'cargo-deny/krate': 'rsa@0.9.2' },
    },
    { id: 'a:vulnerability' },
    ['dependency', 'rsa', '0.9.2', null, 'RUSTSEC-2023-0071'],
  ],
  [
    'an unknown tool: in properties',
    'Unheard of',
    { message: { text: 'x' }, properties: { package: { name: 'lodash', version: '4.17.20' }, cve: 'CVE-2021-23337' } },
    { id: 'OUTDATED' },
    ['dependency', 'lodash', '4.17.20', null, 'CVE-2021-23337'],
  ],
  [
    'an unknown tool: in a sentence of the message',
    'PT AI',
    { message: { text: 'Vulnerability CVE-2020-8203 in component lodash 4.17.15' }, ...at('a.txt') },
    { id: 'Vulnerable Component' },
    ['dependency', 'lodash', '4.17.15', null, 'CVE-2020-8203'],
  ],
  [
    'a package URL as location',
    'Unheard of',
    { message: { text: 'Deprecated' }, ...at('pkg:npm/lodash@4.17.20') },
    { id: 'DEPRECATED' },
    ['dependency', 'lodash', '4.17.20', null, ''],
  ],
  [
    "CodeQL: a vulnerability that only the rule's texts mention is not one of code",
    'CodeQL',
    { message: { text: 'This flows to a log entry.' }, ...at('src/A.java') },
    {
      id: 'java/log4j-injection',
      shortDescription: { text: 'Log4j injection' },
      help: { markdown: 'See CVE-2021-44228.' },
      properties: { description: 'Data may reach versions of Log4j that are vulnerable to CVE-2021-44228.' },
    },
    ['code', null, null, null, ''],
  ],
  [
    'a rule id that contains a vulnerability states it for code, too',
    'Unheard of',
    { message: { text: 'A lookup' }, ...at('src/A.java') },
    { id: 'java.log4j.cve-2021-44228' },
    ['code', null, null, null, 'CVE-2021-44228'],
  ],
  [
    'several ids of one database in a text are not clear',
    'Unheard of',
    { message: { text: 'As CVE-2021-1111 and CVE-2021-2222' }, ...at('package.json') },
    { id: 'X' },
    ['code', null, null, null, ''],
  ],
]

for (const [title, tool, result, rule, expected] of REPORTS) {
  test(`a package and vulnerability are read as tools state them: ${title}`, async () => {
    const { id } = rule as { id: string }
    const run = { tool: { driver: { name: tool, rules: [rule] } }, results: [{ ruleId: id, ...result }] }
    const { findings } = await parseReport({ version: '2.1.0', runs: [run] })
    const read = findings.map((finding) => [
      finding.kind,
      finding.package_name,
      finding.package_version,
      finding.fixed_version,
      finding.vuln_ids.join(' '),
    ])
    assert.deepEqual(read, [expected])
  })
}

test('the id and tags of a rule tell its kind before the tool does', () => {
  assert.equal(kind('Checkov', {}, 'CKV_SECRET_6'), 'secret')
  assert.equal(kind('Snyk Open Source', {}, 'snyk:lic:npm:a:GPL-3.0'), 'license')
  assert.equal(kind('Snyk Infrastructure as Code', {}, 'SNYK-CC-K8S-6'), 'iac')
  assert.equal(kind('Unheard of', {}, 'SNYK-CC-K8S-6'), 'iac')
  assert.equal(kind('Checkov', {}, 'CVE-2021-44228'), 'dependency')
  assert.equal(kind('WizCLI', tags('iac-misconfiguration')), 'iac')
  assert.equal(kind('cargo-deny', tags('license', 'compliance')), 'license')
  assert.equal(kind('Unheard of', tags('secret')), 'secret')
})
