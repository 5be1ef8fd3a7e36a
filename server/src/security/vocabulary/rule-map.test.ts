import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadRuleMap } from './load-rule-map.ts'
import { RuleMap } from './rule-map.ts'

const builtIn = await loadRuleMap(null)

const SHELL = 'python-subprocess-shell'
const COMMAND = 'go-command'
const SPELLINGS: [tool: string, ruleId: string, message: string | null, group: string][] = [
  ['Bandit', 'B602', null, SHELL],
  ['bandit', 'B602:subprocess_popen_with_shell_equals_true', null, SHELL],
  ['bandit', 'subprocess_popen_with_shell_equals_true', null, SHELL],
  ['ruff', 'S602', null, SHELL],
  ['Ruff', 'subprocess-popen-with-shell-equals-true', null, SHELL],
  ['semgrep', 'python.lang.security.audit.subprocess-shell-true', null, SHELL],
  ['Semgrep OSS', 'python.lang.security.audit.subprocess-shell-true.subprocess-shell-true', null, SHELL],
  ['Opengrep', 'home.ci.semgrep-rules.python.lang.security.audit.subprocess-shell-true', null, SHELL],
  [
    'Semgrep PRO',
    'python.lang.security.insecure-hash-algorithms.insecure-hash-algorithm-md5',
    null,
    'python-weak-hash',
  ],
  ['semgrep', 'bandit.B602-1', null, SHELL],
  ['SonarQube', 'external_bandit:B602', null, SHELL],
  ['gosec', 'G204', null, COMMAND],
  ['gosec', 'G204 (CWE-78)', null, COMMAND],
  ['golangci-lint', 'gosec', 'G204: Subprocess launched with variable', COMMAND],
  ['golangci-lint', 'G204', null, COMMAND],
  ['golangci-lint', 'gosec:G204', null, COMMAND],
  ['semgrep', 'gosec.G204-1', null, COMMAND],
  ['ESLint', 'security/detect-child-process', null, 'javascript-child-process'],
  ['ESLint', 'eslint-plugin-security/detect-child-process', null, 'javascript-child-process'],
  ['semgrep', 'eslint.detect-child-process', null, 'javascript-child-process'],
  ['ESLint', '@microsoft/eslint-plugin-sdl/no-html-method', null, 'javascript-jquery-html'],
  ['nodejsscan', 'node_insecure_random_generator', null, 'javascript-random'],
  ['Snyk Code', 'javascript/CommandInjection/test', null, 'javascript-child-process'],
  ['sonarqube', 'typescript:S4721', null, 'javascript-child-process'],
  ['CodeQL command-line toolchain', 'js/command-line-injection', null, 'javascript-child-process'],
  ['Flawfinder', 'FF1044', null, 'c-system'],
  ['zizmor', 'zizmor/template-injection', null, 'workflow-template-injection'],
]

for (const [tool, ruleId, message, group] of SPELLINGS) {
  test(`${ruleId} of ${tool}${message === null ? '' : `, with the message "${message}",`} is in ${group}`, () => {
    assert.ok(builtIn.weaknessesOfRule(tool, ruleId, message).includes(group))
  })
}

const CONTROLS: [tool: string, ruleId: string, group: string][] = [
  ['Checkov', 'CKV_AWS_19', 'aws-s3-encryption'],
  ['Trivy', 'AVD-AWS-0088', 'aws-s3-encryption'],
  ['Trivy', 'AWS-0088', 'aws-s3-encryption'],
  ['defsec', 'aws-s3-enable-bucket-encryption', 'aws-s3-encryption'],
  ['tfsec', 'AWS017', 'aws-s3-encryption'],
  ['Trivy', 'AVD-KSV-0012', 'kubernetes-run-as-non-root'],
  ['Trivy', 'KSV012', 'kubernetes-run-as-non-root'],
  ['Trivy', 'DS002', 'docker-root-user'],
  ['hadolint', 'DL3002', 'docker-root-user'],
  ['KICS', '568a4d22-3517-44a6-a7ad-6a7eed88722c', 'aws-s3-versioning'],
  ['terrascan', 'AC_AWS_0214', 'aws-s3-versioning'],
  ['Kubescape', 'C-0013', 'kubernetes-run-as-non-root'],
  ['kube-linter', 'run-as-non-root', 'kubernetes-run-as-non-root'],
  ['semgrep', 'terraform.lang.security.s3-public-read-bucket', 'aws-s3-public-acl-read'],
]

for (const [tool, ruleId, group] of CONTROLS) {
  test(`${ruleId} of ${tool} checks ${group}`, () => {
    assert.ok(builtIn.controlsOfRule(tool, ruleId).includes(group))
  })
}

const RESOURCE_MESSAGES: [tool: string, ruleId: string, message: string | null, groups: string[]][] = [
  ['kube-linter', 'unset-cpu-requirements', 'container "a" has cpu limit 0', ['kubernetes-cpu-limit']],
  ['kube-linter', 'unset-cpu-requirements', 'container "a" has cpu request 0', ['kubernetes-cpu-request']],
  ['kube-linter', 'unset-memory-requirements', 'container "a" has memory limit 0', ['kubernetes-memory-limit']],
  ['kube-score', 'container-resources', 'CPU limit is not set', ['kubernetes-cpu-limit']],
  ['kube-score', 'container-resources', 'Memory request is not set', ['kubernetes-memory-request']],
  ['kube-score', 'container-resources', null, []],
  ['kube-score', 'pod-probes', 'Container is missing a readinessProbe', ['kubernetes-readiness-probe']],
  [
    'kube-score',
    'container-security-context-user-group-id',
    'The container running with a low group ID',
    ['kubernetes-high-gid'],
  ],
]

for (const [tool, ruleId, message, groups] of RESOURCE_MESSAGES) {
  test(`${ruleId} of ${tool} with the message ${message} checks ${groups[0] ?? 'nothing known'}`, () => {
    assert.deepEqual(builtIn.controlsOfRule(tool, ruleId, message), groups)
  })
}

test('a rule that is not in the map has no groups', () => {
  for (const [tool, ruleId] of [
    ['Bandit', 'B999'],
    ['Bandit', ''],
    ['', 'B602'],
    ['ruff', 'B602'],
    ['semgrep', 'company.rules.subprocess-shell-true'],
    ['golangci-lint', 'gosec'],
    ['Trivy', 'AWS017x'],
    ['constructor', '__proto__'],
  ] as const) {
    assert.deepEqual(builtIn.weaknessesOfRule(tool, ruleId), [], `${tool} ${ruleId}`)
    assert.deepEqual(builtIn.controlsOfRule(tool, ruleId), [], `${tool} ${ruleId}`)
  }
})

test('the canonical name of a rule is equal for all tools that report it', () => {
  const names: [string, string, string | null][] = [
    ['gosec', 'G112', null],
    ['golangci-lint', 'gosec', 'G112: Potential Slowloris Attack'],
    ['semgrep', 'gosec.G112-1', null],
  ]
  assert.deepEqual(new Set(names.map((name) => builtIn.canonicalRule(...name))), new Set(['gosec g112']))
  assert.equal(builtIn.canonicalRule('defsec', 'AWS017'), builtIn.canonicalRule('Trivy', 'AVD-AWS-0088'))
  assert.equal(builtIn.canonicalRule('My Scanner', 'Rule-1'), 'my scanner rule-1')
})

const GROUP = { title: 'T', cwes: [], sources: ['https://example.com'] }

test('a later file adds groups, replaces groups and removes groups', () => {
  const map = new RuleMap([
    {
      weaknesses: ['a', 'b', 'c'].map((id) => ({ ...GROUP, id, rules: { bandit: [`B90${id}`], ruff: [`S90${id}`] } })),
    },
    {
      weaknesses: [
        { ...GROUP, id: 'b', rules: { bandit: ['B901'], 'my scanner': ['X1'] } },
        { ...GROUP, id: 'c', rules: {} },
        { ...GROUP, id: 'd', rules: { bandit: ['B901'], ruff: ['S901'] } },
      ],
    },
  ])
  assert.deepEqual([...map.weaknesses.keys()], ['a', 'b', 'd'])
  assert.deepEqual(map.weaknessesOfRule('Bandit', 'B901'), ['b', 'd'])
  assert.deepEqual(map.weaknessesOfRule('My Scanner', 'X1'), ['b'])
  assert.deepEqual(map.weaknessesOfRule('ruff', 'S90c'), [])
})

test('a file may use any spelling of tools and rules, and define other names of a rule', () => {
  const map = new RuleMap([
    {
      controls: [{ ...GROUP, id: 'a', rules: { tfsec: ['AVD-AWS-0088'], 'my scanner': ['X1'] } }],
      spellings: { trivy: { 'AVD-AWS-0088': ['old-name'] }, 'my scanner': { X1: ['x-one'] } },
    },
  ])
  assert.deepEqual(map.controlsOfRule('Trivy', 'AWS-0088'), ['a'])
  assert.deepEqual(map.controlsOfRule('tfsec', 'old-name'), ['a'])
  assert.deepEqual(map.controlsOfRule('My scanner', 'X-ONE'), ['a'])
})
