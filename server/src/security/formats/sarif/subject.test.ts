import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  for (const tool of ['defsec', 'tfsec', 'kube-score', 'KICS', 'terrascan']) assert.equal(kind(tool, {}), 'iac', tool)
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
    readPackage({}, rule, `Package: ${name}\nInstalled Version: 1.0\nFixed Version: \nLink: x`, null)
  assert.equal(stated('libssl').fixedVersion, '1.1.1d')
  assert.deepEqual(stated('libcrypto'), { name: 'libcrypto', version: '1.0', fixedVersion: null, purl: null })
})

test('a package URL in the properties is the package', () => {
  assert.deepEqual(readPackage({ properties: { purl: 'pkg:npm/lodash@4.17.1' } }, undefined, '', null), {
    name: 'lodash',
    version: '4.17.1',
    fixedVersion: null,
    purl: 'pkg:npm/lodash@4.17.1',
  })
})
