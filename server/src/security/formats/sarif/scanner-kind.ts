import type { FindingKind } from '../../vocabulary/finding.ts'
import { normalizeRuleId } from '../../vocabulary/rule-name.ts'

/** The kind of findings by a text in the name of the scanner. The first match counts. */
const KINDS: [FindingKind, string[]][] = [
  [
    'iac',
    [
      'snyk iac',
      'checkov',
      'tfsec',
      'defsec',
      'kics',
      'terrascan',
      'trivy config',
      'kubescape',
      'kube-linter',
      'kube-score',
      'kubesec',
      'kubeaudit',
      'datree',
      'prowler',
      'cfn-lint',
      'cfn_nag',
      'tflint',
    ],
  ],
  [
    'secret',
    [
      'gitleaks',
      'trufflehog',
      'detect-secrets',
      'detect secrets',
      'ggshield',
      'secret',
      'noseyparker',
      'talisman',
      'kingfisher',
    ],
  ],
  ['container', ['dockle', 'hadolint']],
  [
    'dependency',
    [
      'trivy',
      'grype',
      'snyk open source',
      'snyk container',
      'osv-scanner',
      'osv scanner',
      'dependency-check',
      'dependency check',
      'wizcli',
      'npm audit',
      'pip-audit',
      'cargo-audit',
      'cargo audit',
      'bundler-audit',
      'govulncheck',
      'docker scout',
      'anchore',
      'xray',
      'blackduck',
      'black duck',
      'retire.js',
      'depscan',
      'dep-scan',
      'nancy',
    ],
  ],
]

/** The kind of findings that a scanner reports; `code` if its name is unknown. */
export function classifyScanner(tool: string): FindingKind {
  const name = tool.toLowerCase()
  return KINDS.find(([, names]) => names.some((known) => name.includes(known)))?.[0] ?? 'code'
}

/**
 * Names and tags of rules by which scanners of several kinds tell them apart: Trivy, Wiz, GitLab.
 */
const MARKS: Record<string, FindingKind> = {
  secret: 'secret',
  misconfiguration: 'iac',
  license: 'license',
  vulnerability: 'dependency',
}

/** The kind of findings of a rule by its name and tags; null if none of them is known. */
export function classifyMarks(marks: readonly string[]): FindingKind | null {
  for (const mark of marks) {
    const kind = Object.hasOwn(MARKS, mark.toLowerCase()) ? MARKS[mark.toLowerCase()] : undefined
    if (kind !== undefined) return kind
  }
  return null
}

/** Directories of Semgrep's registry with rules for secrets and for infrastructure. */
const RULE_DIRECTORIES: [FindingKind, RegExp][] = [
  ['secret', /(?:^|\.)secrets\.|\.detected-[\w-]*(?:key|token|secret|credential|password|hash|url|account)[\w-]*$/],
  ['iac', /^(?:terraform|dockerfile|json\.aws|yaml\.(?:kubernetes|docker-compose|argo))\./],
]

/** The kind of findings of a rule of a scanner for code; null if its id does not tell. */
export function classifyRule(ruleId: string): FindingKind | null {
  const stable = normalizeRuleId(ruleId)
  return RULE_DIRECTORIES.find(([, pattern]) => pattern.test(stable))?.[0] ?? null
}
