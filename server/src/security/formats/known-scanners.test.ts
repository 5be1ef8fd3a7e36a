import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDetected } from '../../../test/support/parse-report.ts'
import { SCANNERS } from './known-scanners.ts'

/** Files of each scanner, reduced to the members that identify it. A text is a whole file. */
const FILES: Record<string, unknown[]> = {
  Trivy: [
    { SchemaVersion: 2, ArtifactName: 'alpine', Results: [] },
    [{ Target: 'alpine', Type: 'alpine', Vulnerabilities: [{ VulnerabilityID: 'CVE-2019-1549' }] }],
  ],
  Grype: [{ matches: [], source: {}, descriptor: { name: 'grype' } }],
  Snyk: [
    { vulnerabilities: [], ok: true, dependencyCount: 3, packageManager: 'npm' },
    [{ vulnerabilities: [], packageManager: 'maven' }],
    { ok: false, error: 'Could not detect supported target files', path: '/src' },
  ],
  'Composer audit': [{ advisories: [], abandoned: [] }],
  'npm audit': [
    { auditReportVersion: 2, vulnerabilities: {} },
    { actions: [], advisories: {}, muted: [], metadata: {} },
  ],
  'Yarn audit': [
    '{"type":"auditAdvisory","data":{"resolution":{},"advisory":{}}}\n{"type":"auditSummary","data":{}}\n',
  ],
  Semgrep: [
    { version: '1', results: [], errors: [], paths: {} },
    { results: [{ check_id: 'r', path: 'a.py' }], errors: [] },
  ],
  Checkov: [
    { check_type: 'terraform', results: {}, summary: {} },
    [{ check_type: 'kubernetes', results: {} }],
    { passed: 0, failed: 0, skipped: 0, parsing_errors: 0, resource_count: 0, checkov_version: '3' },
  ],
  Gitleaks: [[{ RuleID: 'aws', Secret: 'x', Match: 'x' }], [{ line: 'x', offender: 'x', rule: 'AWS' }]],
  Bandit: [{ errors: [], generated_at: 'x', metrics: {}, results: [] }],
  'OSV-Scanner': [{ results: [{ source: {}, packages: [] }] }, { results: [], experimental_config: {} }],
  ESLint: [[{ filePath: 'a.js', messages: [], errorCount: 0 }]],
  gosec: [{ 'Golang errors': {}, Issues: [], Stats: {}, GosecVersion: 'dev' }],
  Brakeman: [{ scan_info: {}, warnings: [], ignored_warnings: [], errors: [] }],
  KICS: [{ kics_version: 'v2', files_scanned: 1, severity_counters: {}, queries: [] }],
  tfsec: [{ results: [{ rule_id: 'AVD-AWS-0001', long_id: 'aws-s3', rule_provider: 'aws' }] }],
  Terrascan: [{ results: { violations: [], scan_summary: {} } }],
  ShellCheck: [
    [{ file: 'a.sh', line: 1, endLine: 1, column: 1, level: 'info', code: 2086, message: 'x' }],
    { comments: [{ file: 'a.sh', endLine: 1 }] },
  ],
  Hadolint: [[{ code: 'DL3006', column: 1, file: 'Dockerfile', level: 'warning', line: 1, message: 'x' }]],
  Dockle: [{ image: 'x', summary: {}, details: [] }],
  TruffleHog: [
    [{ date: 'x', path: 'x', reason: 'x', stringsFound: [] }],
    '{"SourceMetadata":{},"DetectorName":"AWS"}\n{"SourceMetadata":{}}',
  ],
  'detect-secrets': [{ version: '1', plugins_used: [], results: {} }],
  'OWASP Dependency-Check': [{ reportSchema: '1.1', scanInfo: {}, projectInfo: {}, dependencies: [] }],
  ZAP: [{ '@programName': 'ZAP', '@version': '2', site: [{ alerts: [] }] }],
  Nuclei: ['{"template-id":"x","info":{}}\n{"template-id":"y"}\n'],
  govulncheck: ['{"config":{"protocol_version":"v1.0.0"}}\n{"finding":{}}\n'],
  'cargo-audit': [{ settings: {}, database: {}, lockfile: {}, vulnerabilities: { found: false, list: [] } }],
  'cargo-deny': ['{"fields":{"severity":"error","message":"x"},"type":"diagnostic"}\n{"type":"summary","fields":{}}\n'],
  Clippy: ['{"reason":"compiler-message","package_id":"x","message":{}}\n{"reason":"build-finished"}\n'],
  'pip-audit': [{ dependencies: [{ name: 'flask', version: '0.5', vulns: [] }], fixes: [] }],
  Syft: [{ artifacts: [], artifactRelationships: [], source: {}, descriptor: {} }],
  Kubescape: [{ summaryDetails: {}, results: [], resources: [] }],
  Nessus: [{ info: {}, hosts: [], vulnerabilities: [{ plugin_id: 1, plugin_name: 'x' }] }],
  Safety: [{ report_meta: {}, scanned_packages: {}, vulnerabilities: [] }],
  'bundler-audit': [{ version: '0.9', results: [{ type: 'unpatched_gem', gem: {}, advisory: {} }] }],
  'Retire.js': [{ version: '4', start: 'x', data: [{ file: 'jquery.js', results: [] }], messages: [], errors: [] }],
  'golangci-lint': [{ Issues: [], Report: { Linters: [] } }],
  Staticcheck: ['{"code":"SA4006","severity":"error","location":{"file":"a.go","line":1},"message":"x"}\n{}\n'],
  njsscan: [{ errors: [], njsscan_version: '0.3', nodejs: {}, templates: {} }],
  mobsfscan: [{ results: {}, errors: [], mobsfscan_version: '0.3' }],
  MobSF: [{ version: 'v3', app_name: 'x', manifest_analysis: {}, permissions: {} }],
  Psalm: [[{ severity: 'error', line_from: 1, line_to: 1, type: 'X', file_name: 'a.php', snippet: 'x' }]],
  PHPStan: [{ totals: { errors: 0, file_errors: 1 }, files: {}, errors: [] }],
  Pylint: [[{ type: 'error', module: 'a', line: 1, path: 'a.py', symbol: 'x', message: 'x', 'message-id': 'E1101' }]],
  Ruff: [[{ cell: null, code: 'S101', filename: 'a.py', location: {}, end_location: {}, noqa_row: 1 }]],
  actionlint: [[{ message: 'x', filepath: 'a.yml', line: 1, column: 1, kind: 'expression', snippet: 'x' }]],
  zizmor: [[{ ident: 'artipacked', desc: 'x', url: 'x', determinations: {}, locations: [] }]],
  Infer: [[{ bug_type: 'NULLPTR', qualifier: 'x', severity: 'ERROR', line: 1, file: 'a.c' }]],
  PMD: [{ formatVersion: 0, pmdVersion: '7', files: [] }],
  RuboCop: [{ metadata: { rubocop_version: '1' }, files: [], summary: {} }],
  KubeLinter: [{ Checks: [], Reports: [], Summary: {} }],
  TFLint: [{ issues: [{ rule: {}, message: 'x', range: {}, callers: [] }], errors: [] }],
  'cfn-lint': [[{ Filename: 'a.yaml', Id: 'x', Level: 'Error', Location: {}, Message: 'x', Rule: {} }]],
  ggshield: [{ entities_with_incidents: [], total_incidents: 0 }],
  'Nosey Parker': [[{ rule_name: 'AWS', matches: [] }]],
  Horusec: [{ version: 'v2', id: 'x', status: 'success', analysisVulnerabilities: [] }],
  Veracode: [{ _links: {}, scan_id: 'x', modules: [], findings: [] }],
  'Amazon Inspector': [{ findings: [{ findingArn: 'x', packageVulnerabilityDetails: {} }] }],
  'AWS Security Hub': [{ Findings: [{ SchemaVersion: '2018-10-08', ProductArn: 'x' }] }],
  'Amazon ECR': [{ imageScanFindings: {}, registryId: '1' }],
  'JFrog Xray': [[{ scan_id: 'x', vulnerabilities: [], component_id: 'x' }]],
  twistcli: [
    { results: [{ id: 'x', packages: [], vulnerabilities: [], vulnerabilityDistribution: {} }], consoleURL: 'x' },
  ],
  'Anchore Engine': [{ imageDigest: 'x', vulnerability_type: 'all', vulnerabilities: [] }],
  ScanCode: [{ headers: [{ tool_name: 'scancode-toolkit' }], packages: [], files: [] }],
  Prowler: [[{ CheckID: 'x', StatusExtended: 'x' }], [{ activity_id: 1, finding_info: {}, metadata: {} }]],
  SonarQube: [{ total: 0, paging: {}, issues: [], components: [] }, { issues: [{ engineId: 'x', ruleId: 'x' }] }],
  Clair: [{ manifest_hash: 'sha256:x', packages: {}, vulnerabilities: {} }],
  GitLab: [{ version: '15', vulnerabilities: [], scan: {} }],
  CodeClimate: [[{ description: 'x', check_name: 'x', fingerprint: 'x', severity: 'major', location: {} }]],
  'Dependency-Track': [{ version: '1.2', meta: {}, project: {}, findings: [] }],
  'GitHub code scanning': [[{ number: 1, rule: {}, tool: {}, most_recent_instance: {} }]],
  'Dependabot alerts': [[{ number: 1, dependency: {}, security_advisory: {} }]],
  "GitHub's bill of materials": [{ sbom: { spdxVersion: 'SPDX-2.3', packages: [] } }],
  Secretlint: [[{ filePath: 'a', sourceContent: 'x', messages: [] }]],
  'Trivy for Kubernetes': [{ ClusterName: 'x', Resources: [{ Namespace: 'x' }] }],
  'Trivy Operator': [
    { apiVersion: 'aquasecurity.github.io/v1alpha1', kind: 'VulnerabilityReport', metadata: {}, report: {} },
  ],
  WizCLI: [{ id: 'x', status: {}, policies: [], scanOriginResource: {}, result: {} }],
  Talisman: [{ summary: {}, results: [{ filename: 'a', failure_list: [], warning_list: [] }] }],
  Whispers: [[{ key: 'k', value: 'v', file: 'a', line: 1, rule_id: 'x', severity: 'x' }]],
  Aqua: [{ image: 'x', scan_started: {}, resources: [], vulnerability_summary: {} }],
  Checkmarx: [
    { reportId: 'x', reportHeader: {}, scanResults: {} },
    { results: [{ type: 'sast', id: 'x', similarityId: 'x' }], totalCount: 1 },
  ],
  'Burp Suite': [{ task_id: '1', scan_status: 'succeeded', issue_events: [] }],
  WPScan: [{ banner: {}, target_url: 'x', interesting_findings: [] }],
  Bearer: [{ medium: [{ cwe_ids: ['79'], id: 'x' }] }],
  AuditJS: [[{ coordinates: 'pkg:npm/a@1', reference: 'x', vulnerabilities: [] }]],
  Nancy: [{ audited: [], num_audited: 0, num_vulnerable: 0, vulnerable: [] }],
  MixAudit: [{ pass: false, vulnerabilities: [] }],
  'dotnet list package': [{ version: 1, parameters: '--vulnerable', projects: [] }],
  'Secret scanning alerts': [[{ number: 1, secret_type: 'x', secret: 'x' }]],
  Mend: [{ projectVitals: {}, libraries: [] }],
  'Sonatype Lifecycle': [{ components: [], matchSummary: {} }],
  'kube-bench': [{ Controls: [], Totals: {} }],
  'kube-hunter': [{ nodes: [], services: [], vulnerabilities: [] }],
  Polaris: [{ PolarisOutputVersion: '1.0', Results: [] }],
  cfn_nag: [[{ filename: 'a.yaml', file_results: {} }]],
  'Google Artifact Analysis': [{ discovery_summary: {}, image_summary: {}, package_vulnerability_summary: {} }],
  Harbor: [{ generated_at: 'x', artifact: {}, scanner: {}, severity: 'x', vulnerabilities: [] }],
  DefectDojo: [{ findings: [{ title: 'x', severity: 'High' }] }],
  OSV: [{ schema_version: '1.4.0', id: 'GHSA-9v2f-6vcg-3hgv', modified: 'x', affected: [] }],
  'in-toto': [
    { payloadType: 'application/vnd.in-toto+json', payload: 'e30=', signatures: [] },
    { _type: 'https://in-toto.io/Statement/v1', subject: [], predicateType: 'x', predicate: {} },
  ],
}

for (const [name, files] of Object.entries(FILES)) {
  test(`the JSON of ${name} is refused with its name and advice`, async () => {
    for (const file of files) {
      const refusal = await refusalOf(file)
      assert.ok(refusal.startsWith(`The file is in the JSON format of ${name}, which is not supported; `), refusal)
      assert.match(refusal, /sarif|cyclonedx|spdx/i)
      assert.match(refusal, /^[^\n]{30,300}\.$/)
    }
  })
}

test('every known scanner has a test', () => {
  assert.deepEqual(SCANNERS.map(([name]) => name).sort(), Object.keys(FILES).sort())
})

async function refusalOf(file: unknown): Promise<string> {
  const open = async function* () {
    yield Buffer.from(typeof file === 'string' ? file : JSON.stringify(file))
  }
  const error = await readDetected({ open }, 'auto', async () => {}).then(
    () => assert.fail('it was read'),
    (error) => error,
  )
  assert.equal(error.name, 'ReportError', error.stack)
  return error.message
}
