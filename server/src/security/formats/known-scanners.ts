import { formatTitles, REPORT_FORMATS } from './catalogue.ts'

/**
 * A scanner, how it writes a supported format, and the shapes of its own JSON files. A shape is a
 * list of members, joined by ` & `: `a`, `a.b` or `a[].b`, and `[].a` if the file is an array.
 */
type Scanner = [name: string, advice: string, ...shapes: string[]]

const run = (flags: string) => `run it with \`${flags}\``
const instead = (tool: string) => `use ${tool} instead`

const FORMAT_SARIF = run('--format sarif')
const GITLEAKS = instead('Gitleaks with `--report-format sarif`')
const OSV_SCANNER = instead('`osv-scanner --format sarif`')
const TRIVY = instead('Trivy with `--format sarif`')
const REPORT = formatTitles(REPORT_FORMATS, 'or')
const ADVISORY = `upload the ${REPORT} report of a scan instead`
const ORIGINAL = 'upload the SARIF report of the original scanner instead'

/** The first scanner with a matching shape is the one that is named. */
export const SCANNERS: Scanner[] = [
  [
    'Trivy',
    FORMAT_SARIF,
    'SchemaVersion & ArtifactName',
    'SchemaVersion & Results',
    'Results[].Target',
    '[].Target & [].Vulnerabilities',
    '[].Target & [].Type',
  ],
  ['Grype', run('-o sarif'), 'matches & descriptor', 'matches[].vulnerability & matches[].artifact'],
  [
    'Snyk',
    run('--sarif-file-output=snyk.sarif'),
    'vulnerabilities & packageManager',
    'vulnerabilities & dependencyCount',
    '[].vulnerabilities & [].packageManager',
    'infrastructureAsCodeIssues',
    'ok & error & path',
    'jsonapi & data',
  ],
  ['Composer audit', OSV_SCANNER, 'advisories & abandoned'],
  [
    'npm audit',
    instead('`npm sbom --sbom-format cyclonedx` or `osv-scanner --format sarif`'),
    'auditReportVersion',
    'advisories & metadata',
    'actions & advisories',
    'error.summary & error.detail',
  ],
  ['Semgrep', run('--sarif'), 'results[].check_id', 'results & errors & paths', 'findings[].match_based_id'],
  [
    'Checkov',
    run('-o sarif'),
    'check_type & results',
    '[].check_type',
    'results.passed_checks',
    'results.failed_checks',
    'passed & failed & checkov_version',
  ],
  ['Gitleaks', run('--report-format sarif'), '[].RuleID & [].Secret', '[].RuleID & [].Match', '[].offender & [].rule'],
  [
    'Bandit',
    'install `bandit[sarif]` and run it with `-f sarif`',
    'generated_at & metrics & results',
    'results[].test_id',
  ],
  ['OSV-Scanner', FORMAT_SARIF, 'experimental_config', 'results[].source & results[].packages'],
  ['Secretlint', run('--format @secretlint/secretlint-formatter-sarif'), '[].filePath & [].sourceContent'],
  ['ESLint', run('--format @microsoft/eslint-formatter-sarif'), '[].filePath & [].messages'],
  ['gosec', run('-fmt sarif'), 'Golang errors', 'Issues & Stats'],
  ['Brakeman', run('-f sarif'), 'scan_info & warnings', 'scan_info & ignored_warnings'],
  ['KICS', run('--report-formats sarif'), 'kics_version', 'queries & severity_counters'],
  ['tfsec', FORMAT_SARIF, 'results[].long_id', 'results[].rule_provider'],
  ['Terrascan', run('-o sarif'), 'results.violations & results.scan_summary', 'results.scan_summary'],
  [
    'ShellCheck',
    'convert it with `shellcheck -f json | shellcheck-sarif`',
    '[].endLine & [].level & [].code',
    'comments[].endLine',
  ],
  ['Hadolint', FORMAT_SARIF, '[].code & [].file & [].level'],
  ['Dockle', run('-f sarif'), 'summary & details & image', 'details[].alerts', 'summary.fatal & details'],
  [
    'TruffleHog',
    GITLEAKS,
    'SourceMetadata & DetectorName',
    '[].SourceMetadata',
    '[].stringsFound & [].reason',
    'stringsFound & reason',
    '[].rule & [].secret & [].context',
  ],
  ['detect-secrets', GITLEAKS, 'plugins_used'],
  ['OWASP Dependency-Check', run('--format SARIF'), 'reportSchema & scanInfo', 'reportSchema & dependencies'],
  ['ZAP', 'use the report template `sarif-json`', '@programName & site', 'site[].alerts'],
  ['Nuclei', run('-sarif-export nuclei.sarif'), 'template-id', '[].template-id', 'templateID'],
  [
    'govulncheck',
    run('-format sarif'),
    'config.protocol_version',
    'config & finding',
    '[].config & [].osv',
    'Vulns & Modules & Calls',
  ],
  ['cargo-audit', FORMAT_SARIF, 'database & lockfile & vulnerabilities'],
  [
    'pip-audit',
    run('--format cyclonedx-json'),
    'dependencies & fixes',
    'dependencies[].vulns',
    '[].name & [].version & [].vulns',
  ],
  ['Yarn audit', OSV_SCANNER, 'type & data.resolution', 'type & data.advisory', 'type & data', 'value & children.ID'],
  ['Syft', 'run it with `-o cyclonedx-json` or `-o spdx-json`', 'artifacts & artifactRelationships'],
  ['Kubescape', FORMAT_SARIF, 'summaryDetails & results', 'clusterAPIServerInfo'],
  [
    'Prowler',
    'configure it to write SARIF instead',
    '[].CheckID & [].StatusExtended',
    '[].finding_info & [].activity_id',
    'Control ID & CAF Epic',
  ],
  [
    'SonarQube',
    ORIGINAL,
    'issues & components & paging',
    'issues[].effortMinutes',
    'issues[].engineId',
    'hotspots & paging',
    '[].securityCategory & [].vulnerabilityProbability',
  ],
  [
    'Clair',
    instead('Trivy with `--format sarif`, or Grype with `-o sarif`,'),
    'manifest_hash & vulnerabilities',
    'image & unapproved',
    'LayerCount & Vulnerabilities',
  ],
  [
    'GitLab',
    ORIGINAL,
    'scan & vulnerabilities & version',
    'vulnerabilities[].category & vulnerabilities[].scanner',
    'dependency_files & vulnerabilities',
    'version & vulnerabilities & remediations',
  ],
  ['CodeClimate', 'configure the linter to write SARIF instead', '[].check_name & [].fingerprint'],
  [
    'Nessus',
    'convert the `.nessus` file with `sarif convert --tool Nessus`',
    'vulnerabilities[].plugin_id',
    '[].plugin_id',
    '[].Plugin ID',
  ],
  [
    'Safety',
    instead('`pip-audit --format cyclonedx-json`'),
    'report_meta & vulnerabilities',
    'report_meta & scanned_packages',
  ],
  ['bundler-audit', OSV_SCANNER, 'results[].gem & results[].advisory'],
  ['Retire.js', run('--outputformat cyclonedxJSON'), 'data[].file & data[].results', '[].file & [].results'],
  ['cargo-deny', FORMAT_SARIF, 'type & fields.severity', 'type & fields.advisories'],
  ['Clippy', 'convert it with `clippy-sarif`', 'reason & message', 'reason & package_id'],
  ['golangci-lint', run('--output.sarif.path=golangci.sarif'), 'Issues & Report'],
  ['Staticcheck', run('-f sarif'), 'code & severity & location.file'],
  ['njsscan', run('--sarif'), 'njsscan_version'],
  ['mobsfscan', run('--sarif'), 'mobsfscan_version'],
  [
    'MobSF',
    instead('`mobsfscan --sarif`'),
    'app_name & manifest_analysis',
    'app_name & binary_analysis',
    '[].apk_exploit_dict',
  ],
  ['Psalm', run('--report=psalm.sarif'), '[].line_from & [].file_name'],
  ['PHPStan', 'install an extension for SARIF and run it with `--error-format=sarif`', 'totals & files & errors'],
  ['Pylint', instead('Ruff with `--output-format sarif`'), '[].message-id & [].symbol'],
  ['Ruff', run('--output-format sarif'), '[].noqa_row'],
  ['actionlint', 'run it with `-format` and its SARIF template', '[].filepath & [].kind & [].snippet'],
  ['zizmor', FORMAT_SARIF, '[].ident & [].determinations'],
  ['Infer', run('--sarif'), '[].bug_type & [].qualifier'],
  ['PMD', run('-f sarif'), 'pmdVersion & files'],
  ['RuboCop', 'run it with the SARIF formatter of the gem `code-scanning-rubocop`', 'metadata.rubocop_version'],
  ['KubeLinter', FORMAT_SARIF, 'Checks & Reports'],
  ['TFLint', FORMAT_SARIF, 'issues[].rule & issues[].callers'],
  ['cfn-lint', FORMAT_SARIF, '[].Rule & [].Filename'],
  ['ggshield', FORMAT_SARIF, 'entities_with_incidents', 'scans & total_incidents'],
  ['Nosey Parker', run('report --format sarif'), '[].rule_name & [].matches', 'finding_id & rule_name'],
  ['Horusec', run('--output-format sarif'), 'analysisVulnerabilities'],
  [
    'Veracode',
    'convert it with the action `veracode-pipeline-scan-results-to-sarif`',
    'scan_id & modules & findings',
    'pipeline_scan & findings',
    '_embedded.findings',
    'findings[].scan_type & findings[].finding_details',
  ],
  ['Amazon Inspector', TRIVY, 'findings[].findingArn'],
  ['AWS Security Hub', ORIGINAL, 'Findings[].ProductArn', '[].ProductArn', 'findings[].ProductArn'],
  ['Amazon ECR', TRIVY, 'imageScanFindings'],
  [
    'JFrog Xray',
    'run `jf` with `--format=sarif`',
    '[].scan_id & [].vulnerabilities',
    'vulnerabilities[].impactedPackageName',
    'rows[].impacted_artifact',
    'rows[].component_physical_path',
    'artifacts[].issues & artifacts[].general',
  ],
  ['twistcli', TRIVY, 'results[].vulnerabilityDistribution'],
  ['Anchore Engine', instead('Grype with `-o sarif`'), 'vulnerability_type & vulnerabilities'],
  ['ScanCode', run('--cyclonedx bom.json'), 'headers[].tool_name'],
  [
    'Dependency-Track',
    'export the bill of materials as CycloneDX with `variant=withVulnerabilities`',
    'meta & project & findings',
  ],
  [
    'GitHub code scanning',
    'fetch the analysis with `Accept: application/sarif+json`',
    '[].rule & [].most_recent_instance',
  ],
  [
    'Dependabot alerts',
    'connect the repository, or use `osv-scanner --format sarif`',
    '[].security_advisory & [].dependency',
  ],
  ["GitHub's bill of materials", 'upload its member `sbom`, which is SPDX (`gh api --jq .sbom`)', 'sbom.spdxVersion'],
  ['OSV', ADVISORY, 'schema_version & affected & modified', 'affected & modified & summary'],
  ['in-toto', `upload the attested ${REPORT} document instead`, 'payloadType & payload', '_type & predicateType'],
  ['Trivy for Kubernetes', run('--format cyclonedx'), 'ClusterName & Resources', 'ClusterName & Vulnerabilities'],
  ['Trivy Operator', TRIVY, 'apiVersion & kind & report', '[].apiVersion & [].kind & [].report'],
  ['WizCLI', FORMAT_SARIF, 'scanOriginResource & result'],
  ['Talisman', GITLEAKS, 'results[].failure_list'],
  ['Whispers', GITLEAKS, '[].key & [].value & [].rule_id'],
  ['Aqua', TRIVY, 'image & vulnerability_summary'],
  ['Checkmarx', run('--report-format sarif'), 'reportHeader & scanResults', 'xissues', 'results[].similarityId'],
  ['Burp Suite', instead('ZAP with the report template `sarif-json`'), 'issue_events'],
  ['WPScan', instead('ZAP with the report template `sarif-json`'), 'banner & target_url'],
  [
    'Bearer',
    FORMAT_SARIF,
    'critical[].cwe_ids',
    'high[].cwe_ids',
    'medium[].cwe_ids',
    'low[].cwe_ids',
    'warning[].cwe_ids',
  ],
  ['AuditJS', OSV_SCANNER, '[].coordinates & [].vulnerabilities'],
  ['Nancy', OSV_SCANNER, 'num_audited & vulnerable'],
  ['MixAudit', OSV_SCANNER, 'pass & vulnerabilities'],
  ['dotnet list package', OSV_SCANNER, 'version & parameters & projects'],
  [
    'Secret scanning alerts',
    'connect the repository, or use Gitleaks with `--report-format sarif`',
    '[].secret_type & [].number',
  ],
  ['Mend', 'write a SARIF report with its CLI instead', 'projectVitals & libraries'],
  ['Sonatype Lifecycle', 'export the bill of materials as CycloneDX', 'matchSummary & components'],
  ['kube-bench', instead('Kubescape with `--format sarif`'), 'Controls & Totals', '[].node_type & [].tests'],
  ['kube-hunter', instead('Kubescape with `--format sarif`'), 'nodes & services & vulnerabilities'],
  ['Polaris', instead('KubeLinter with `--format sarif`'), 'PolarisOutputVersion'],
  ['cfn_nag', instead('cfn-lint with `--format sarif`'), '[].file_results'],
  ['Google Artifact Analysis', TRIVY, 'image_summary & package_vulnerability_summary'],
  ['Harbor', TRIVY, 'artifact & scanner & vulnerabilities'],
  ['DefectDojo', ORIGINAL, 'findings[].title & findings[].severity'],
]

/** Why a file with these members is refused; null if no scanner is known to write such files. */
export function explainKnownScanner(members: ReadonlySet<string>): string | null {
  const [name, advice] = SCANNERS.find(([, , ...shapes]) => shapes.some((shape) => hasShape(members, shape))) ?? []
  return name === undefined ? null : `The file is in the JSON format of ${name}, which is not supported; ${advice}.`
}

export function hasShape(members: ReadonlySet<string>, shape: string): boolean {
  return shape.split(' & ').every((member) => members.has(member))
}
