import type { FindingKind } from '../../vocabulary/finding-kind.ts'

/** Scanners whose name tells what they look for; a name matches when it contains the text. First match wins. */
const KINDS: [FindingKind, string[]][] = [
  [
    'iac',
    [
      'snyk iac',
      'checkov',
      'tfsec',
      'kics',
      'terrascan',
      'trivy config',
      'kubescape',
      'kube-linter',
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

/** What a scanner looks for by its name; `code` when the name does not tell. */
export function kindOfScanner(tool: string): FindingKind {
  const name = tool.toLowerCase()
  return KINDS.find(([, names]) => names.some((known) => name.includes(known)))?.[0] ?? 'code'
}

/** Words with which scanners of several kinds mark a rule, in its name or tags (Trivy, Wiz, GitLab). */
const MARKS: Record<string, FindingKind> = {
  secret: 'secret',
  misconfiguration: 'iac',
  license: 'license',
  vulnerability: 'dependency',
}

/** What one rule of a scanner of several kinds looks for, by its name and tags; null when they do not tell. */
export function kindOfMarks(marks: readonly string[]): FindingKind | null {
  for (const mark of marks) {
    const kind = Object.hasOwn(MARKS, mark.toLowerCase()) ? MARKS[mark.toLowerCase()] : undefined
    if (kind !== undefined) return kind
  }
  return null
}
