import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostRepository } from '../../../../test/support/host-objects.ts'
import { hasLocation, parseCodeScanningAlert, parseDependabotAlert, parseSecretAlert } from './alert-parsers.ts'

const repository = hostRepository()
const CREATED = '2026-02-01T08:00:00Z'
const CHANGED = '2026-02-03T08:00:00Z'
const MONA = {
  id: 3,
  login: 'mona',
  type: 'User',
  avatar_url: 'https://a.example/3',
  html_url: 'https://github.com/mona',
}
const LIFE = { created_at: CREATED, updated_at: CHANGED, html_url: 'https://github.com/acme/shop/security/1' }
const DISMISSED = {
  dismissed_by: MONA,
  dismissed_at: CHANGED,
  dismissed_reason: 'used in tests',
  dismissed_comment: 'ok',
}

const CODE = {
  ...LIFE,
  number: 4,
  state: 'open',
  rule: {
    id: 'js/sql-injection',
    severity: 'error',
    security_severity_level: 'critical',
    description: 'SQL injection',
    full_description: 'Queries from user input.',
    tags: ['security', 'external/cwe/cwe-089', 'external/cwe/cwe-0564'],
    help_uri: 'https://codeql.example/js',
  },
  tool: { name: 'CodeQL', version: '2.20.0', guid: null },
  most_recent_instance: {
    ref: 'refs/heads/main',
    commit_sha: 'a'.repeat(40),
    message: { text: 'This query depends on a value.' },
    location: { path: 'src/db.js', start_line: 3, end_line: 3, start_column: 7, end_column: 0 },
  },
}

test('a code scanning alert has the fields of the same result in SARIF', () => {
  const alert = parseCodeScanningAlert(CODE, repository)
  assert.deepEqual(alert, {
    repository,
    type: 'code_scanning',
    number: 4,
    status: 'open',
    severity: 'critical',
    title: 'SQL injection',
    description: 'This query depends on a value.',
    url: LIFE.html_url,
    references: ['https://codeql.example/js'],
    rule_id: 'js/sql-injection',
    tool_name: 'CodeQL',
    tool_version: '2.20.0',
    cwes: ['CWE-89', 'CWE-564'],
    package: null,
    cve_id: null,
    ghsa_id: null,
    advisory_url: null,
    cvss: null,
    location: { path: 'src/db.js', start_line: 3, end_line: 3, start_column: 7, end_column: null },
    commit_sha: 'a'.repeat(40),
    git_ref: 'refs/heads/main',
    secret: null,
    detected_at: new Date(CREATED),
    fixed_at: null,
    dismissal: null,
    updated_at: new Date(CHANGED),
  })
})

const LEVELS: [level: string | null, severity: string | null, expected: string][] = [
  ['critical', 'note', 'critical'],
  ['high', null, 'high'],
  ['medium', 'error', 'medium'],
  ['low', 'error', 'low'],
  [null, 'error', 'high'],
  [null, 'warning', 'medium'],
  [null, 'note', 'low'],
  [null, 'none', 'info'],
  [null, null, 'medium'],
]

test('the severity of a code scanning alert is that of its rule, else its level', () => {
  for (const [security_severity_level, severity, expected] of LEVELS) {
    const rule = { ...CODE.rule, security_severity_level, severity }
    assert.equal(parseCodeScanningAlert({ ...CODE, rule }, repository).severity, expected)
  }
})

test('a code scanning alert that was fixed or dismissed says when and why', () => {
  const fixed = parseCodeScanningAlert({ ...CODE, state: 'fixed', fixed_at: CHANGED }, repository)
  assert.deepEqual([fixed.status, fixed.fixed_at, fixed.dismissal], ['fixed', new Date(CHANGED), null])
  const dismissed = parseCodeScanningAlert({ ...CODE, state: 'dismissed', ...DISMISSED }, repository)
  assert.equal(dismissed.status, 'dismissed')
  assert.equal(dismissed.dismissal?.by?.login, 'mona')
  assert.deepEqual(
    { ...dismissed.dismissal, by: null },
    { by: null, reason: 'used in tests', comment: 'ok', at: new Date(CHANGED) },
  )
})

const DEPENDENCY = {
  ...LIFE,
  number: 7,
  state: 'open',
  dependency: { package: { ecosystem: 'npm', name: 'lodash' }, manifest_path: 'web/package-lock.json' },
  security_advisory: {
    ghsa_id: 'GHSA-35jh-r3h4-6jhm',
    cve_id: 'CVE-2021-23337',
    summary: 'Command injection in lodash',
    description: 'Before 4.17.21.',
    severity: 'high',
    cvss: { score: 7.2, vector_string: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H' },
    cwes: [{ cwe_id: 'CWE-94', name: 'Code Injection' }],
    references: [{ url: 'https://nvd.nist.gov/vuln/detail/CVE-2021-23337' }],
  },
  security_vulnerability: {
    package: { ecosystem: 'npm', name: 'lodash' },
    severity: 'high',
    vulnerable_version_range: '< 4.17.21',
    first_patched_version: { identifier: '4.17.21' },
  },
}

test('a Dependabot alert has the package, the advisory and its score', () => {
  const alert = parseDependabotAlert(DEPENDENCY, repository)
  assert.deepEqual(alert.package, {
    ecosystem: 'npm',
    name: 'lodash',
    vulnerable_versions: '< 4.17.21',
    patched_version: '4.17.21',
    manifest_path: 'web/package-lock.json',
  })
  assert.deepEqual(alert.cvss, { version: '3.1', score: 7.2, vector: DEPENDENCY.security_advisory.cvss.vector_string })
  assert.deepEqual(
    [alert.severity, alert.title, alert.cve_id, alert.ghsa_id, alert.cwes, alert.location?.path],
    [
      'high',
      'Command injection in lodash',
      'CVE-2021-23337',
      'GHSA-35jh-r3h4-6jhm',
      ['CWE-94'],
      'web/package-lock.json',
    ],
  )
  assert.equal(alert.advisory_url, 'https://github.com/advisories/GHSA-35jh-r3h4-6jhm')
})

test('the newest version of CVSS with a rating counts', () => {
  const v4 = { score: 8.6, vector_string: 'CVSS:4.0/AV:N' }
  const cvss = (versions: object) => {
    const security_advisory = { ...DEPENDENCY.security_advisory, cvss: null, cvss_severities: versions }
    return parseDependabotAlert({ ...DEPENDENCY, security_advisory }, repository).cvss
  }
  assert.deepEqual(cvss({ cvss_v4: v4, cvss_v3: null }), { version: '4.0', score: 8.6, vector: 'CVSS:4.0/AV:N' })
  const v3 = { score: 5, vector_string: 'CVSS:3.0/AV:N' }
  assert.equal(cvss({ cvss_v4: { score: 0, vector_string: null }, cvss_v3: v3 })?.version, '3.0')
  assert.equal(cvss({ cvss_v4: null, cvss_v3: { score: 0, vector_string: null } }), null)
})

test('an alert that Dependabot dismissed itself has no person and its own reason', () => {
  const alert = parseDependabotAlert({ ...DEPENDENCY, state: 'auto_dismissed', auto_dismissed_at: CHANGED }, repository)
  assert.equal(alert.status, 'dismissed')
  assert.deepEqual(alert.dismissal, { by: null, reason: 'auto_dismissed', comment: null, at: new Date(CHANGED) })
  const dismissed = parseDependabotAlert({ ...DEPENDENCY, state: 'dismissed', ...DISMISSED }, repository)
  assert.deepEqual([dismissed.status, dismissed.dismissal?.reason], ['dismissed', 'used in tests'])
  assert.equal(parseDependabotAlert({ ...DEPENDENCY, state: 'fixed' }, repository).status, 'fixed')
})

const PLACE = { path: 'a.env', start_line: 2, end_line: 2, start_column: 1, end_column: 9, commit_sha: 'b'.repeat(40) }
const SECRET = {
  ...LIFE,
  number: 9,
  state: 'open',
  secret_type: 'github_personal_access_token',
  secret_type_display_name: 'GitHub Personal Access Token',
  secret: 'ghp_value',
  validity: 'unknown',
  first_location_detected: PLACE,
}

test('a secret is critical unless it is inactive', () => {
  const severities = ['active', 'unknown', null, 'inactive'].map(
    (validity) => parseSecretAlert({ ...SECRET, validity }, repository, null).severity,
  )
  assert.deepEqual(severities, ['critical', 'critical', 'critical', 'low'])
})

test('a resolved secret is fixed if it was revoked, else dismissed', () => {
  const resolved = { ...SECRET, state: 'resolved', resolved_at: CHANGED, resolved_by: MONA, resolution_comment: 'why' }
  const revoked = parseSecretAlert({ ...resolved, resolution: 'revoked' }, repository, null)
  assert.deepEqual([revoked.status, revoked.fixed_at, revoked.dismissal], ['fixed', new Date(CHANGED), null])
  const kept = parseSecretAlert({ ...resolved, resolution: 'wont_fix' }, repository, null)
  assert.deepEqual([kept.status, kept.fixed_at, kept.dismissal?.reason], ['dismissed', null, 'wont_fix'])
  assert.deepEqual([kept.dismissal?.by?.login, kept.dismissal?.comment], ['mona', 'why'])
})

test('the place of a secret is part of the alert, else its first place in a file', () => {
  const alert = parseSecretAlert(SECRET, repository, null)
  assert.deepEqual([alert.location?.path, alert.location?.start_line, alert.commit_sha], ['a.env', 2, 'b'.repeat(40)])
  const { first_location_detected, ...older } = SECRET
  assert.deepEqual([hasLocation(SECRET), hasLocation(older)], [true, false])
  const locations = [
    { type: 'issue_title', details: {} },
    { type: 'commit', details: { ...PLACE, path: 'b.env' } },
  ]
  assert.equal(parseSecretAlert(older, repository, locations).location?.path, 'b.env')
  assert.equal(parseSecretAlert(older, repository, []).location, null)
})

test('an alert that never changed was last changed when it was created', () => {
  assert.deepEqual(parseSecretAlert({ ...SECRET, updated_at: null }, repository, null).updated_at, new Date(CREATED))
  assert.deepEqual(parseCodeScanningAlert({ ...CODE, updated_at: null }, repository).updated_at, new Date(CREATED))
})
