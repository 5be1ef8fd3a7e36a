/** A rule as rule maps write it. */
export type RuleName = { tool: string; rule: string }

/**
 * The names that a rule of a report may have in rule maps, the most specific first. The message of
 * the result is needed if a tool writes the same rule for several checks. golangci-lint, for
 * example, writes the name of the linter.
 */
export function listRuleNames(toolName: string, ruleId: string, message: string | null): RuleName[] {
  const tool = normalizeTool(toolName)
  const wrapped = wrappedRule(tool, ruleId.trim(), message)
  if (wrapped !== null) return listRuleNames(wrapped.tool, wrapped.rule, message)
  const spell = Object.hasOwn(SPELLINGS, tool) ? SPELLINGS[tool] : undefined
  return (spell?.(ruleId.trim(), message) ?? [ruleId.trim()]).map((rule) => ({ tool, rule }))
}

/** The rule of another tool that a tool runs: gosec in golangci-lint, or Bandit in SonarQube. */
function wrappedRule(tool: string, ruleId: string, message: string | null): RuleName | null {
  if (tool === 'golangci-lint') return linterRule(ruleId) ?? linterRule(message ?? '')
  if (tool === 'semgrep') return namedRule(tool, /^([a-z_]+)\.([^.]+?)(?:-\d+)?$/.exec(ruleId))
  if (tool === 'sonarqube') return namedRule(tool, /^external_([a-z_-]+?)(?:_repo)?:(.+)$/.exec(ruleId))
  return null
}

/** The rule of gosec or Staticcheck with which a text starts, perhaps after the linter's name. */
function linterRule(text: string): RuleName | null {
  const rule = /^(?:[a-z]+[:/ ] ?)?(G\d{3}|SA\d{4})\b/.exec(text)?.[1]
  return rule === undefined ? null : { tool: rule.startsWith('G') ? 'gosec' : 'staticcheck', rule }
}

/**
 * The rule that a match names: the tool, and its rule. GitLab's rules for Semgrep are of this form,
 * with a number at their end: bandit.B602-1.
 */
function namedRule(wrapper: string, match: RegExpExecArray | null): RuleName | null {
  const [, name, rule] = match ?? []
  if (name === undefined || rule === undefined) return null
  const tool = normalizeTool(name.replaceAll('_', '-'))
  return tool !== wrapper && KNOWN_TOOLS.has(tool) ? { tool, rule } : null
}

const REQUIREMENT = /\b(?<subject>cpu|memory) (?<check>request|limit)\b/i
/** What messages of checks for several things state. */
const CHECKS = new Map([
  ['unset-cpu-requirements', REQUIREMENT],
  ['unset-memory-requirements', REQUIREMENT],
  ['container-resources', REQUIREMENT],
  ['container-security-context-user-group-id', /\blow (?<subject>user|group) (?<check>id)\b/i],
  ['pod-probes', /\b(?<subject>readiness|liveness)(?<check>probe)\b/i],
])

/** The spellings of a rule id of one tool. */
const SPELLINGS: Record<string, (ruleId: string, message: string | null) => string[]> = {
  bandit: (ruleId) => [/^B\d{3}/.exec(ruleId)?.[0] ?? ruleId],
  checkov: (ruleId) => [/CKV2?_[A-Z0-9]+_\d+/.exec(ruleId)?.[0] ?? ruleId],
  eslint: spellEslint,
  gosec: (ruleId) => [/G\d{3}/.exec(ruleId)?.[0] ?? ruleId],
  hadolint: (ruleId) => [/(?:DL|SC)\d{4}/.exec(ruleId)?.[0] ?? ruleId],
  'kube-linter': spellChecks,
  'kube-score': spellChecks,
  semgrep: spellSemgrep,
  'snyk-code': (ruleId) => [ruleId.replace(/\/test$/, '')],
  sonarqube: (ruleId) => [ruleId.replace(/^typescript:/, 'javascript:')],
  trivy: spellTrivy,
  zizmor: (ruleId) => [ruleId.replace(/^zizmor\//, '')],
}

/** GitLab leaves out the name of the plugin, and some formats write its package. */
function spellEslint(ruleId: string): string[] {
  const rule = ruleId.replace(/^(@[^/]+\/)?eslint-plugin-/, '$1')
  return rule.includes('/') ? [rule] : [rule, `security/${rule}`]
}

/**
 * KubeLinter and kube-score have one check for several things. The message states what is missing,
 * as in "container has cpu limit 0" or "Container is missing a readinessProbe".
 */
function spellChecks(ruleId: string, message: string | null): string[] {
  const stated = CHECKS.get(ruleId)?.exec(message ?? '')?.groups
  return stated === undefined ? [ruleId] : [`${ruleId}:${stated.subject}-${stated.check}`.toLowerCase()]
}

const SEMGREP_SEGMENTS_MAX = 40

/**
 * An id of Semgrep consists of the directories of the rule, from the directory where Semgrep ran,
 * the name of the file (only if the rules come from the registry), and the rule. Rule maps write
 * the directories within the registry and the rule.
 */
function spellSemgrep(ruleId: string): string[] {
  const segments = ruleId.split('.').slice(-SEMGREP_SEGMENTS_MAX)
  const rule = segments.pop() as string
  return segments
    .flatMap((_, start) => {
      const directories = segments.slice(start)
      return [directories, directories.slice(0, -1)].map((path) => [...path, rule].join('.'))
    })
    .concat(rule)
}

const TRIVY_ID = /^(?:AVD-)?([A-Z]+)-(\d{4,5})$/
/** Older versions of Trivy wrote KSV012 and DS002. AWS017 is an older id of another check. */
const TRIVY_SHORT_ID = /^(KSV|KCV|DS)-?(\d{1,4})$/

function spellTrivy(ruleId: string): string[] {
  const [, provider, number] = TRIVY_ID.exec(ruleId) ?? TRIVY_SHORT_ID.exec(ruleId) ?? []
  return provider === undefined || number === undefined ? [ruleId] : [`${provider}-${number.padStart(4, '0')}`]
}

/**
 * The names under which tools appear in rule maps, with the names that they have in reports, in
 * lower case. tfsec, which calls itself defsec, is listed as Trivy because Trivy took over its
 * checks.
 */
const TOOL_NAMES: Record<string, readonly string[]> = {
  actionlint: ['actionlint'],
  bandit: ['bandit'],
  brakeman: ['brakeman'],
  'cfn-lint': ['cfn-lint', 'cfn-python-lint'],
  'cfn-nag': ['cfn-nag', 'cfn_nag', 'stelligent cfn_nag'],
  checkov: ['checkov', 'bridgecrew', 'prisma cloud'],
  'clang-tidy': ['clang-tidy', 'clang tidy'],
  codeql: ['codeql', 'github codeql', 'github advanced security', 'lgtm'],
  cppcheck: ['cppcheck'],
  'detect-secrets': ['detect-secrets', 'detect secrets'],
  dockle: ['dockle'],
  eslint: ['eslint'],
  flawfinder: ['flawfinder'],
  gitleaks: ['gitleaks'],
  'golangci-lint': ['golangci-lint', 'golangci'],
  gosec: ['gosec', 'golang security checks by gosec'],
  hadolint: ['hadolint'],
  kics: ['kics', 'keeping infrastructure as code secure', 'checkmarx kics'],
  'kube-linter': ['kube-linter', 'kubelinter'],
  'kube-score': ['kube-score'],
  kubescape: ['kubescape'],
  njsscan: ['njsscan', 'nodejsscan'],
  octoscan: ['octoscan'],
  phpstan: ['phpstan'],
  pmd: ['pmd'],
  poutine: ['poutine'],
  prowler: ['prowler'],
  psalm: ['psalm'],
  revive: ['revive'],
  roslyn: ['microsoft (r) visual c# compiler', 'microsoft.codeanalysis', '.net analyzers', 'roslyn'],
  rubocop: ['rubocop'],
  ruff: ['ruff'],
  scorecard: ['scorecard', 'ossf scorecard'],
  'security-code-scan': ['security code scan', 'security-code-scan', 'securitycodescan'],
  semgrep: ['semgrep', 'opengrep'],
  'snyk-code': ['snyk code', 'snykcode', 'snyk-code'],
  'snyk-iac': ['snyk iac', 'snyk-iac', 'snyk infrastructure as code'],
  sonarqube: ['sonarqube', 'sonarcloud', 'sonarscanner', 'sonarlint', 'sonar'],
  spotbugs: ['spotbugs', 'find security bugs', 'find-sec-bugs', 'findsecbugs', 'findbugs'],
  staticcheck: ['staticcheck'],
  terrascan: ['terrascan'],
  trivy: ['trivy', 'aqua trivy', 'tfsec', 'defsec'],
  trufflehog: ['trufflehog'],
  zizmor: ['zizmor'],
}

export const KNOWN_TOOLS: ReadonlySet<string> = new Set(Object.keys(TOOL_NAMES))

/** The longest names first, so that "snyk code" is found before a tool named "snyk". */
const NAMES_IN_REPORTS = Object.entries(TOOL_NAMES)
  .flatMap(([tool, names]) => names.map((name) => ({ tool, name })))
  .sort((a, b) => b.name.length - a.name.length)

/**
 * The name of a tool in rule maps by its name in a report, which may be followed by an edition or
 * version: "Semgrep OSS" is `semgrep`. The lower-case name if the tool is unknown.
 */
function normalizeTool(name: string): string {
  const lower = name.trim().toLowerCase()
  if (KNOWN_TOOLS.has(lower)) return lower
  const entry = NAMES_IN_REPORTS.find(
    ({ name }) => lower.startsWith(name) && !/^[a-z0-9]/.test(lower.slice(name.length)),
  )
  return entry?.tool ?? lower
}

/** The top directories of Semgrep's registry of rules. */
const REGISTRY_DIRECTORIES = new Set(
  `ai apex bash c clojure csharp dockerfile elixir generic go html java javascript json kotlin ocaml php
  problem-based-packs python ruby rust scala solidity swift terraform typescript yaml`.split(/\s+/),
)
const REGISTRY = 'semgrep-rules'

/**
 * The part of a rule id that is the same on every machine. Semgrep puts the directory of a local
 * rule before its name, from the directory where it ran:
 * `home.ci.semgrep-rules.python.lang.security.exec-detected`. Rules from the registry repeat the
 * name of their file, as in `exec-detected.exec-detected`.
 */
export function normalizeRuleId(ruleId: string): string {
  if (!ruleId.includes('.') || /[/:\s]/.test(ruleId)) return ruleId
  const parts = ruleId.split('.')
  const from = parts.indexOf(REGISTRY) + 1 || parts.findIndex((part) => REGISTRY_DIRECTORIES.has(part))
  if (from < 0 || parts.length - from < 3) return ruleId
  const stable = parts.slice(from)
  return stable.at(-1) === stable.at(-2) ? stable.slice(0, -1).join('.') : stable.join('.')
}
