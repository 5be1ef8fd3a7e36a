/** Formats that people send by mistake: a scanner's own JSON. We say which it is and how the scanner writes one that is read. */
type KnownScanner = {
  name: string
  /** Shapes by which its files are told, each a list of members that all must be there: `a`, `a.b`, `a[].b`; `[].a` where the file is an array. */
  shapes: string[][]
  advice: string
}

const SCANNERS: KnownScanner[] = [
  {
    name: 'Trivy',
    shapes: [
      ['SchemaVersion', 'ArtifactName'],
      ['SchemaVersion', 'Results'],
      ['Results[].Target'],
      ['[].Target', '[].Vulnerabilities'],
      ['[].Target', '[].Type'],
    ],
    advice: 'run it with `--format sarif`',
  },
  {
    name: 'Grype',
    shapes: [
      ['matches', 'descriptor'],
      ['matches[].vulnerability', 'matches[].artifact'],
    ],
    advice: 'run it with `-o sarif`',
  },
  {
    name: 'Snyk',
    shapes: [
      ['vulnerabilities', 'packageManager'],
      ['vulnerabilities', 'dependencyCount'],
      ['[].vulnerabilities', '[].packageManager'],
      ['infrastructureAsCodeIssues'],
    ],
    advice: 'run it with `--sarif-file-output=snyk.sarif`',
  },
  {
    name: 'npm audit',
    shapes: [['auditReportVersion'], ['advisories', 'metadata'], ['actions', 'advisories']],
    advice:
      'it cannot write SARIF: write a CycloneDX file with `npm sbom --sbom-format cyclonedx`, or scan with `osv-scanner --format sarif`',
  },
  {
    name: 'Semgrep',
    shapes: [['results[].check_id'], ['results', 'errors', 'paths']],
    advice: 'run it with `--sarif`',
  },
  {
    name: 'Checkov',
    shapes: [['check_type', 'results'], ['[].check_type'], ['results.passed_checks'], ['results.failed_checks']],
    advice: 'run it with `-o sarif`',
  },
  {
    name: 'Gitleaks',
    shapes: [
      ['[].RuleID', '[].Secret'],
      ['[].RuleID', '[].Match'],
      ['[].offender', '[].rule'],
    ],
    advice: 'run it with `--report-format sarif`',
  },
  {
    name: 'Bandit',
    shapes: [['generated_at', 'metrics', 'results'], ['results[].test_id']],
    advice: 'install `bandit[sarif]` and run it with `-f sarif`',
  },
  {
    name: 'OSV-Scanner',
    shapes: [['experimental_config'], ['results[].packages']],
    advice: 'run it with `--format sarif`',
  },
  {
    name: 'ESLint',
    shapes: [['[].filePath', '[].messages']],
    advice: 'run it with `--format @microsoft/eslint-formatter-sarif`',
  },
  { name: 'gosec', shapes: [['Golang errors'], ['Issues', 'Stats']], advice: 'run it with `-fmt sarif`' },
  {
    name: 'Brakeman',
    shapes: [
      ['scan_info', 'warnings'],
      ['scan_info', 'ignored_warnings'],
    ],
    advice: 'run it with `-f sarif`',
  },
  {
    name: 'KICS',
    shapes: [['kics_version'], ['queries', 'severity_counters']],
    advice: 'run it with `--report-formats sarif`',
  },
  {
    name: 'tfsec',
    shapes: [['results[].long_id'], ['results[].rule_provider']],
    advice: 'run it with `--format sarif`',
  },
  {
    name: 'Terrascan',
    shapes: [['results.violations', 'results.scan_summary'], ['results.scan_summary']],
    advice: 'run it with `-o sarif`',
  },
  { name: 'Hadolint', shapes: [['[].code', '[].file', '[].level']], advice: 'run it with `--format sarif`' },
  { name: 'Dockle', shapes: [['summary', 'details', 'image'], ['details[].alerts']], advice: 'run it with `-f sarif`' },
  {
    name: 'TruffleHog',
    shapes: [['SourceMetadata', 'DetectorName'], ['[].SourceMetadata']],
    advice: 'it cannot write SARIF: scan with Gitleaks and `--report-format sarif`',
  },
  {
    name: 'detect-secrets',
    shapes: [['plugins_used']],
    advice: 'it cannot write SARIF: scan with Gitleaks and `--report-format sarif`',
  },
  {
    name: 'OWASP Dependency-Check',
    shapes: [
      ['reportSchema', 'scanInfo'],
      ['reportSchema', 'dependencies'],
    ],
    advice: 'run it with `--format SARIF`',
  },
  {
    name: 'ZAP',
    shapes: [['@programName', 'site'], ['site[].alerts']],
    advice: 'use its report template `sarif-json`',
  },
  { name: 'Nuclei', shapes: [['template-id'], ['[].template-id']], advice: 'run it with `-sarif-export nuclei.sarif`' },
  {
    name: 'govulncheck',
    shapes: [['config.protocol_version'], ['config', 'finding']],
    advice: 'run it with `-format sarif`',
  },
  {
    name: 'cargo-audit',
    shapes: [['database', 'lockfile', 'vulnerabilities']],
    advice: 'it cannot write SARIF: scan with `osv-scanner --format sarif`',
  },
  {
    name: 'pip-audit',
    shapes: [['dependencies', 'fixes'], ['dependencies[].vulns']],
    advice: 'run it with `--format cyclonedx-json`',
  },
  {
    name: 'Yarn audit',
    shapes: [
      ['type', 'data.resolution'],
      ['type', 'data.advisory'],
    ],
    advice: 'it cannot write SARIF: scan with `osv-scanner --format sarif`',
  },
  {
    name: 'Syft',
    shapes: [['artifacts', 'artifactRelationships']],
    advice: 'run it with `-o cyclonedx-json` or `-o spdx-json`',
  },
  {
    name: 'Kubescape',
    shapes: [['summaryDetails', 'results'], ['clusterAPIServerInfo']],
    advice: 'run it with `--format sarif`',
  },
  { name: 'Prowler', shapes: [['[].CheckID', '[].StatusExtended']], advice: 'have it write SARIF instead' },
  {
    name: 'SonarQube',
    shapes: [['issues', 'components', 'paging'], ['issues[].effortMinutes']],
    advice: 'have the scanner behind it write SARIF instead',
  },
  {
    name: 'Clair',
    shapes: [['manifest_hash', 'vulnerabilities']],
    advice: 'scan with Trivy and `--format sarif`, or with Grype and `-o sarif`',
  },
  {
    name: 'GitLab',
    shapes: [
      ['scan', 'vulnerabilities', 'version'],
      ['vulnerabilities[].category', 'vulnerabilities[].scanner'],
      ['dependency_files', 'vulnerabilities'],
    ],
    advice: 'have the scanner behind it write SARIF instead',
  },
  {
    name: 'CSAF',
    shapes: [['document.csaf_version']],
    advice: 'it is an advisory, not a scan: send SARIF, CycloneDX or SPDX',
  },
  {
    name: 'OpenVEX',
    shapes: [['@context', 'statements']],
    advice: 'it states no findings of a scan: send it as CycloneDX VEX instead',
  },
  { name: 'CodeClimate', shapes: [['[].check_name', '[].fingerprint']], advice: 'have the linter write SARIF instead' },
]

/** One sentence on the scanner whose own JSON has these members, and how it writes a format that is read; null when it is unknown. */
export function knownScannerRefusal(members: ReadonlySet<string>): string | null {
  const scanner = SCANNERS.find(({ shapes }) => shapes.some((shape) => shape.every((member) => members.has(member))))
  if (scanner === undefined) return null
  return `This is the JSON of ${scanner.name}, which is not read; ${scanner.advice}.`
}
