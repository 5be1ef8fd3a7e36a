/** The policies of the fictional company, oldest version first. */
export const POLICIES: readonly { daysAgo: number; by: string; source: string }[] = [
  {
    daysAgo: 89.8,
    by: 'praman',
    source: `name: tests-passed
mode: enforce
bindings:
  environments: [production]
rules:
  - rule: tests-ran
    name: Tests ran
    expression: attestations.exists(a, a.kind == "test-results")
    trust: any
    reason: No job of this run has reported test results.
  - rule: tests-passed
    name: No test failed
    expression: attestations.all(a, a.kind != "test-results" || a.status != "fail")
    trust: any
    reason: Tests failed. Fix them and run the pipeline again.
`,
  },
  {
    daysAgo: 70,
    by: 'praman',
    source: `name: scanned
mode: enforce
bindings:
  environments: [production]
rules:
  - rule: scan-fresh
    name: Scanned within two weeks
    expression: scans.size() > 0
    trust: any
    max_age: 14d
    reason: The repository has no security report of the last two weeks. Scan it.
`,
  },
  {
    daysAgo: 80,
    by: 'praman',
    source: `name: no-open-critical
mode: monitor
bindings:
  environments: [production]
rules:
  - rule: no-critical
    name: No critical finding is open
    expression: findings.open.critical == 0
    reason: Critical findings are open. Fix or dismiss them.
`,
  },
  {
    daysAgo: 34,
    by: 'sokafor',
    source: `name: no-open-critical
mode: enforce
bindings:
  environments: [production]
  repositories: ['northlane/payments', 'northlane/legacy-billing']
rules:
  - rule: no-critical
    name: No critical finding is open
    expression: findings.open.critical == 0
    trust: any
    reason: Critical findings are open. Fix or dismiss them.
  - rule: few-high
    name: Few high findings are open
    expression: findings.open.high <= 5
    trust: any
    blocking: false
    reason: More than five high findings are open.
`,
  },
  {
    daysAgo: 60,
    by: 'isolberg',
    source: `name: sbom-present
mode: enforce
bindings:
  environments: [production]
rules:
  - rule: sbom-present
    name: The run has a bill of materials
    expression: attestations.exists(a, a.kind == "sbom" && a.data.components > 0)
    trust: any
    blocking: false
    reason: The run has no bill of materials. Attach a CycloneDX or SPDX file.
`,
  },
  {
    daysAgo: 28,
    by: 'praman',
    source: `name: no-known-exploited
mode: monitor
bindings:
  environments: [production, staging]
rules:
  - rule: no-known-exploited
    name: No known exploited vulnerability
    expression: findings.known_exploited == 0
    trust: any
    absent_evidence: pass
    reason: A known exploited vulnerability is open. Update the dependency first.
`,
  },
]
