import type { FindingKind } from '../../vocabulary/finding.ts'
import { normalizeRuleId } from '../../vocabulary/rule-name.ts'

/** The kind of findings by a text in the name of the scanner. The first match counts. */
const KINDS: [FindingKind, string[]][] = [
  [
    'iac',
    [
      'snyk iac',
      ' iac',
      'iac ',
      'infrastructure as code',
      'checkov',
      'bridgecrew',
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
      'ansible-lint',
      'template analyzer',
      'psrule',
      'cfn-guard',
      'cdk-nag',
      'conftest',
      'kyverno',
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
      'nosey parker',
      'credscan',
      'gitguardian',
      'whispers',
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
      'cargo-deny',
      'cargo deny',
      'yarn audit',
      'pnpm audit',
      'composer audit',
      'dependency-track',
      'dependency track',
      'software composition',
      'supply chain',
      'whitesource',
      'sonatype',
      'cve-bin-tool',
      'debricked',
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
 * Names and tags of rules by which scanners of several kinds tell them apart: Trivy, Wiz, GitLab,
 * cargo-deny.
 */
const MARKS = new Map<string, FindingKind>([
  ['secret', 'secret'],
  ['secrets', 'secret'],
  ['misconfiguration', 'iac'],
  ['iac-misconfiguration', 'iac'],
  ['iac', 'iac'],
  ['license', 'license'],
  ['licenses', 'license'],
  ['license_violation', 'license'],
])

/** How KICS names its rules for secrets, beside those for infrastructure. */
const OF_SECRETS = /^Passwords And Secrets\b/

/** The kind of findings of a rule by its name and tags; null if none of them is known. */
export function classifyMarks(marks: readonly string[]): FindingKind | null {
  const kinds = marks.map((mark) => (OF_SECRETS.test(mark) ? 'secret' : MARKS.get(mark.toLowerCase())))
  return kinds.find((kind) => kind !== undefined) ?? null
}

/**
 * Beginnings of rule ids, whatever the tool: those of Checkov, Snyk and Trivy, which other tools
 * pass on, and the directories of Semgrep's registry.
 */
const RULES: [FindingKind, RegExp][] = [
  [
    'secret',
    /^CKV_SECRET_|^CSCAN\d|^HS-LEAKS-|^secrets:|(?:^|\.)secrets\.|\.detected-[\w-]*(?:key|token|secret|credential|password|hash|url|account)[\w-]*$/,
  ],
  ['license', /^(?:snyk:lic:|BC_LIC_)/],
  ['dependency', /^(?:ssc-|BC_VUL_|CKV_CVE_)/],
  ['iac', /^(?:SNYK-CC-|CKV2?_(?!SAST)[A-Z0-9]+_\d|AVD-[A-Z]|KSV-?\d)/],
  ['iac', /^(?:terraform|dockerfile|json\.aws|yaml\.(?:kubernetes|docker-compose|argo))\./],
]

/** The kind of findings of a rule by its id; null if that does not tell. */
export function classifyRule(ruleId: string): FindingKind | null {
  const stable = normalizeRuleId(ruleId)
  return RULES.find(([, pattern]) => pattern.test(stable))?.[0] ?? null
}

/**
 * Ids of rules that scanners of packages have for other things, where they mark them by nothing
 * else: secrets and infrastructure of Trivy, licenses of cargo-deny.
 */
const OF_SEVERAL: [FindingKind, RegExp][] = [
  ['license', /(?:^|[^a-z])(?:un)?licen[cs]e[ds]?(?:[^a-z]|$)|^cargo-deny\/rejected$/i],
  ['secret', /(?:^|[-_.])(?:secret|token|pat|password|credentials?|(?:api|access|private|secret)[-_]key(?:[-_]id)?)$/i],
  ['iac', /^(?:AWS|AZU|CLDSTK|DIG|DS|GCP|GIT|KCV|NIF|OCI|OPNSTK)-?\d{3,5}$/],
]

/** The kind of findings of a scanner of packages by the id of the rule alone. */
export function classifyOfSeveral(ruleId: string): FindingKind {
  return OF_SEVERAL.find(([, pattern]) => pattern.test(ruleId))?.[0] ?? 'dependency'
}
