import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { createContextHasher } from '../../src/security/issues/grouping/grouping-facts.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { applyAlerts, codeAlert, connect, dependencyAlert, listAlerts, secretAlert } from '../support/host-alerts.ts'
import { hostAccount } from '../support/host-objects.ts'
import { bom, listIssues, onlyIssue } from '../support/issues.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'

let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  source = await connect(api, caller)
})

const LATER = new Date('2026-03-03T10:00:00.000Z')
const LAST = new Date('2026-03-03T11:00:00.000Z')
const REPOSITORY = { repository: 'acme/shop', provider: 'github' }

test('an alert is a finding of origin alert with the place, times and links of the alert', async () => {
  await applyAlerts(api, source, codeAlert())
  const [finding] = await listFindings(api, caller)
  const { id, issue_id, identity, grouping_reason, intel, intel_at_detection, ...fields } = finding
  assert.deepEqual(fields, {
    origin: 'alert',
    source: 'github',
    scanner: 'CodeQL',
    scanner_version: '2.20.0',
    kind: 'code',
    type: 'code_scanning',
    severity: 'high',
    state: 'open',
    title: 'Database query built from user-controlled sources',
    description: 'This query depends on a user-provided value.',
    native_url: 'https://github.com/acme/shop/security/code-scanning/1',
    repository: 'acme/shop',
    provider: 'github',
    repository_id: '1001',
    commit_sha: 'a'.repeat(40),
    git_ref: 'main',
    category: null,
    tracked: true,
    location: { path: 'src/db.js', start_line: 10, end_line: 12, start_column: 5, end_column: 20 },
    package_name: null,
    package_version: null,
    fixed_version: null,
    purl: null,
    vuln_ids: [],
    preview: false,
    upload_id: null,
    cwes: ['CWE-89'],
    rule_id: 'js/sql-injection',
    secret_type: null,
    resource_name: null,
    first_seen_at: '2026-03-02T10:00:00.000Z',
    last_seen_at: '2026-03-02T10:00:00.000Z',
    category_reason: null,
    dismiss_reason: null,
    dismiss_comment: null,
    dismissed_by_name: null,
    dismissed_at: null,
    dismissal_source: null,
    dismissal_expires_at: null,
    dismissal_ended: null,
    triage_id: null,
  })
  const [alert] = await listAlerts(api, caller)
  assert.deepEqual([alert.issue_id, alert.grouping_code], [issue_id, 'single'])
})

test('a dependency alert names package, package URL and vulnerability ids', async () => {
  await applyAlerts(api, source, dependencyAlert())
  const [finding] = await listFindings(api, caller)
  assert.deepEqual(
    [finding.kind, finding.scanner, finding.package_name, finding.purl, finding.fixed_version, finding.vuln_ids],
    ['dependency', 'Dependabot', 'lodash', 'pkg:npm/lodash', '4.17.21', ['GHSA-35jh-r3h4-6jhm', 'CVE-2021-23337']],
  )
  assert.deepEqual(finding.location, { path: 'package-lock.json', start_line: null, end_line: null })
  assert.deepEqual([finding.git_ref, finding.tracked, finding.intel.cvss.score], ['main', true, 7.2])
})

test('fixed, dismissed and reopened alerts change the state of their one finding and of its issue', async () => {
  await applyAlerts(api, source, codeAlert())
  const [first] = await listFindings(api, caller)
  const dismissal = { by: hostAccount({ name: 'Ada' }), reason: "won't fix", comment: 'Known.', at: LATER }
  await applyAlerts(api, source, codeAlert({ status: 'dismissed', dismissal, updated_at: LATER }))
  const [dismissed] = await listFindings(api, caller)
  assert.deepEqual(
    [dismissed.id, dismissed.state, dismissed.dismissed_by_name, dismissed.dismiss_reason, dismissed.dismissal_source],
    [first.id, 'dismissed', 'Ada', "won't fix", 'github'],
  )
  assert.equal(dismissed.dismissed_at, LATER.toISOString())
  assert.equal((await onlyIssue(api, caller)).status, 'dismissed')
  await applyAlerts(api, source, codeAlert({ status: 'open', updated_at: LAST }))
  const [reopened] = await listFindings(api, caller)
  assert.deepEqual([reopened.id, reopened.state, reopened.dismissed_at], [first.id, 'open', null])
  await applyAlerts(api, source, codeAlert({ status: 'fixed', fixed_at: LAST, updated_at: api.clock.now() }))
  const [fixed] = await listFindings(api, caller)
  assert.deepEqual([fixed.id, fixed.state], [first.id, 'fixed'])
  assert.equal((await onlyIssue(api, caller)).status, 'fixed')
})

test('an alert that was fixed before the import has a fixed finding and a fixed issue', async () => {
  await applyAlerts(api, source, codeAlert({ status: 'fixed', fixed_at: LATER }))
  assert.equal((await listFindings(api, caller))[0].state, 'fixed')
  assert.equal((await onlyIssue(api, caller)).status, 'fixed')
})

test('a fixed alert and a new one of the same rule and file stay two findings', async () => {
  await applyAlerts(api, source, codeAlert({ number: 1 }))
  const [first] = await listFindings(api, caller)
  const fixed = codeAlert({ number: 1, status: 'fixed', fixed_at: LATER, updated_at: LATER })
  await applyAlerts(api, source, fixed, codeAlert({ number: 2, updated_at: LATER }))
  const states = new Map((await listFindings(api, caller)).map(({ id, state }) => [id, state]))
  assert.deepEqual([states.size, states.get(first.id)], [2, 'fixed'])
})

test('all alerts of a repository may be fixed at once: nothing is held back', async () => {
  const numbers = Array.from({ length: 60 }, (_, index) => index + 1)
  await applyAlerts(api, source, ...numbers.map((number) => codeAlert({ number })))
  const closed = { status: 'fixed', fixed_at: LATER, updated_at: LATER } as const
  await applyAlerts(api, source, ...numbers.map((number) => codeAlert({ number, ...closed })))
  const states = (await listFindings(api, caller)).map(({ state }) => state)
  assert.deepEqual([states.length, new Set(states)], [60, new Set(['fixed'])])
})

test('an alert of another branch opens no issue until it is on the tracked branch', async () => {
  await applyAlerts(api, source, codeAlert({ git_ref: 'refs/pull/7/merge' }))
  const [noted] = await listFindings(api, caller)
  assert.deepEqual([noted.tracked, await listIssues(api, caller)], [false, []])
  await applyAlerts(api, source, codeAlert({ git_ref: 'main', updated_at: LATER }))
  const [tracked] = await listFindings(api, caller)
  assert.deepEqual([tracked.id, tracked.tracked, tracked.git_ref], [noted.id, true, 'main'])
  assert.equal((await onlyIssue(api, caller)).status, 'open')
})

test('an alert and a report of the same tool and branch do not close the findings of each other', async () => {
  await applyAlerts(api, source, codeAlert())
  await uploadReport(api, caller, sarif([], 'CodeQL'), REPOSITORY)
  await uploadReport(api, caller, sarif([codeqlResult(40)], 'CodeQL'), REPOSITORY)
  await applyAlerts(api, source, codeAlert({ number: 2, updated_at: LATER }))
  const findings = await listFindings(api, caller)
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['open', 'open', 'open'],
  )
})

test('a result of CodeQL in an uploaded report and as an alert is one issue, and explain states why', async () => {
  await uploadReport(api, caller, sarif([codeqlResult(11), codeqlResult(40)], 'CodeQL'), REPOSITORY)
  await applyAlerts(api, source, codeAlert())
  const [alert] = await listAlerts(api, caller)
  assert.equal(alert.grouping_code, 'same_location')
  assert.equal(
    alert.grouping_detail,
    'js/sql-injection in an alert of the code host and in a report, at overlapping lines of src/db.js.',
  )
  const issues = await listIssues(api, caller)
  assert.deepEqual(issues.map(({ member_count }) => member_count).sort(), [1, 2])
  const joined = issues.find(({ member_count }) => member_count === 2)
  assert.equal(joined.id, alert.issue_id)
  assert.deepEqual(
    joined.sources.map(({ source: of, scanner }: { source: string; scanner: string }) => `${of} ${scanner}`).sort(),
    ['github CodeQL', 'sarif CodeQL'],
  )
  const explained = await api.request('GET', `/v1/security/issues/${alert.issue_id}/explain`, { key: caller.key })
  assert.equal(explained.status, 200, explained.text)
  assert.match(explained.text, /in an alert of the code host and in a report/)
})

test('the order of report and alert does not change the issues', async () => {
  await applyAlerts(api, source, codeAlert())
  await uploadReport(api, caller, sarif([codeqlResult(40), codeqlResult(11)], 'CodeQL'), REPOSITORY)
  assert.deepEqual((await listIssues(api, caller)).map(({ member_count }) => member_count).sort(), [1, 2])
})

test('a dependency alert and a scanner that name one advisory by different ids are one issue', async () => {
  const { sql } = api.services
  await sql`
    insert into vulnerability_aliases (id, canonical_id)
    values ('GHSA-35jh-r3h4-6jhm', 'CVE-2021-23337'), ('CVE-2021-23337', 'CVE-2021-23337')
    on conflict do nothing`
  await uploadReport(api, caller, bom('Grype', 'pkg:npm/lodash@4.17.19', [{ id: 'CVE-2021-23337' }]), REPOSITORY)
  await applyAlerts(api, source, dependencyAlert({ cve_id: null }))
  const issue = await onlyIssue(api, caller)
  const [alert] = await listAlerts(api, caller)
  assert.deepEqual([issue.member_count, issue.id, alert.grouping_code], [2, alert.issue_id, 'same_vulnerability'])
})

test('without alias data, an alert that states both ids of an advisory joins a scanner that states one', async () => {
  await uploadReport(api, caller, bom('OSV', 'pkg:npm/lodash@4.17.19', [{ id: 'GHSA-35jh-r3h4-6jhm' }]), REPOSITORY)
  await applyAlerts(api, source, dependencyAlert())
  assert.equal((await onlyIssue(api, caller)).member_count, 2)
})

test('the same package name of another ecosystem, and another advisory of the package, are other issues', async () => {
  await uploadReport(api, caller, bom('Grype', 'pkg:npm/lodash@4.17.19', [{ id: 'CVE-2021-23337' }]), REPOSITORY)
  const pip = dependencyAlert({ number: 2, package: { ...lodash(), ecosystem: 'pip' } })
  const other = dependencyAlert({ number: 3, cve_id: 'CVE-2020-8203', ghsa_id: 'GHSA-p6mc-m468-83gw' })
  await applyAlerts(api, source, pip, other)
  assert.deepEqual(
    (await listIssues(api, caller)).map(({ member_count }) => member_count),
    [1, 1, 1],
  )
})

test('alerts of one advisory in two manifests are one issue with two findings', async () => {
  const second = dependencyAlert({ number: 2, package: { ...lodash(), manifest_path: 'web/package-lock.json' } })
  await applyAlerts(api, source, dependencyAlert(), second)
  assert.equal((await onlyIssue(api, caller)).member_count, 2)
})

test('package names of ecosystems meet those of scanners', async () => {
  const cases = [
    ['maven', 'org.apache.logging.log4j:log4j-core', 'pkg:maven/org.apache.logging.log4j/log4j-core'],
    ['pip', 'Django_Rest', 'pkg:pypi/django-rest'],
    ['go', 'github.com/gin-gonic/gin', 'pkg:golang/github.com/gin-gonic/gin'],
    ['npm', '@angular/core', 'pkg:npm/%40angular/core'],
    ['rust', 'time', 'pkg:cargo/time'],
    ['rubygems', 'rails', 'pkg:gem/rails'],
    ['composer', 'symfony/http-kernel', 'pkg:composer/symfony/http-kernel'],
  ] as const
  for (const [index, [ecosystem, name, purl]] of cases.entries()) {
    const id = `CVE-2024-100${index}`
    await uploadReport(api, caller, bom('Grype', `${purl}@1.0.0`, [{ id }]), REPOSITORY)
    await applyAlerts(
      api,
      source,
      dependencyAlert({ number: index + 1, cve_id: id, ghsa_id: null, package: { ...lodash(), ecosystem, name } }),
    )
  }
  const issues = await listIssues(api, caller)
  assert.deepEqual(
    issues.map(({ member_count }) => member_count),
    cases.map(() => 2),
  )
})

const TOKEN = 'ghp_Zx81kPq0Vt5mN3sL7dYc2uRw9eJh4gFb6aKi'

test('a secret that an alert and a scanner report is one issue by its value, in any file', async () => {
  await uploadReport(api, caller, sarif([secretResult('old/.env', 90, TOKEN)], 'gitleaks'), REPOSITORY)
  await applyAlerts(api, source, secretAlert(TOKEN))
  const [alert] = await listAlerts(api, caller)
  assert.deepEqual([alert.grouping_code, alert.secret_type], ['same_secret', 'github_personal_access_token'])
  assert.equal((await onlyIssue(api, caller)).member_count, 2)
})

test('secrets at overlapping lines are one issue, and other secrets are not', async () => {
  const near = secretResult('config/prod.env', 3, 'ghp_other_part_of_it')
  const far = secretResult('config/prod.env', 30, 'another-secret-value')
  await uploadReport(api, caller, sarif([near, far], 'gitleaks'), REPOSITORY)
  await applyAlerts(api, source, secretAlert(TOKEN))
  assert.deepEqual((await listIssues(api, caller)).map(({ member_count }) => member_count).sort(), [1, 2])
})

test("a secret's value is in no table and in no answer, only its keyed hash", async () => {
  const told = secretAlert(TOKEN, {
    title: `Token ${TOKEN}`,
    description: `Found ${TOKEN} in the file.`,
    dismissal: { by: hostAccount(), reason: 'revoked', comment: `It was ${TOKEN}`, at: LATER },
    status: 'fixed',
  })
  await applyAlerts(api, source, told)
  const { sql } = api.services
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name
    from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  assert.ok(tables.length > 30)
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select stored::text as text from ${name} stored`)
    assert.ok(!rows.some(({ text }) => text.includes(TOKEN)), name)
  }
  const [stored] = await sql<{ hash: string }[]>`
    select encode(secret_hash, 'hex') as hash
    from security_alerts
    where org_id = ${caller.orgId}`
  assert.equal(stored?.hash, createContextHasher(api.services.contextKey)(TOKEN))
  assert.equal((await listAlerts(api, caller))[0].title, 'Token ***')
})

function lodash() {
  return {
    ecosystem: 'npm',
    name: 'lodash',
    vulnerable_versions: '< 4.17.21',
    patched_version: '4.17.21',
    manifest_path: 'package-lock.json',
  }
}

/** As CodeQL writes it: with a fingerprint of the line and the flagged code. */
function codeqlResult(startLine: number) {
  const region = {
    startLine,
    startColumn: 5,
    endLine: startLine + 1,
    endColumn: 20,
    snippet: { text: `q(${startLine})` },
  }
  return {
    ruleId: 'js/sql-injection',
    message: { text: 'This query depends on a user-provided value.' },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'src/db.js' }, region } }],
    partialFingerprints: { primaryLocationLineHash: `9cbc869fbfffeb${startLine}:1` },
  }
}

function secretResult(uri: string, startLine: number, text: string) {
  const region = { startLine, endLine: startLine, startColumn: 7, snippet: { text } }
  return {
    ruleId: 'github-pat',
    message: { text: 'github-pat has detected a secret' },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
  }
}
