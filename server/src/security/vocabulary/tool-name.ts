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
export function canonicalTool(name: string): string {
  const lower = name.trim().toLowerCase()
  if (KNOWN_TOOLS.has(lower)) return lower
  const known = NAMES_IN_REPORTS.find(
    ({ name }) => lower.startsWith(name) && !/^[a-z0-9]/.test(lower.slice(name.length)),
  )
  return known?.tool ?? lower
}
