import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, beforeEach, test } from 'node:test'
import { Check } from 'typebox/value'
import { IssueExplanation } from '../../../../../src/security/issues/issue-explanation.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { bom, codeResult, listIssues, onlyIssue, packageResult } from '../../../../support/issues.ts'
import type { Json } from '../../../../support/json.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const DAY_MS = 86_400_000
const LODASH = 'pkg:npm/lodash@4.17.20'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const report = (results: object[], tool: string) => uploadReport(api, caller, sarif(results, tool))

const ask = (id: string, key = caller.key) => api.request('GET', `/v1/security/issues/${id}/explain`, { key })

async function explain(id: string): Promise<Json> {
  const { status, body, text } = await ask(id)
  assert.equal(status, 200, text)
  assert.ok(Check(IssueExplanation, body.data))
  return body.data
}

const explainOnly = async () => explain((await onlyIssue(api, caller)).id)
const issueOf = async (scanner: string) =>
  (await listFindings(api, caller)).find((finding) => finding.scanner === scanner).issue_id

test('each member has the rule that matched, the value, the other findings and the path of aliases', async () => {
  await api.services.sql`
    insert into vulnerability_assertions (source, id, alias)
    values ('osv', 'GHSA-35jh-r3h4-6jhm', 'CVE-2021-23337'), ('osv', 'GO-2021-1', 'GHSA-35jh-r3h4-6jhm')`
  await api.services.sql`
    insert into vulnerability_aliases (id, canonical_id)
    select id, 'CVE-2021-23337' from unnest(array['GHSA-35jh-r3h4-6jhm', 'GO-2021-1', 'CVE-2021-23337']) id`
  await uploadReport(api, caller, bom('Trivy', LODASH, [{ id: 'CVE-2021-23337' }]))
  api.clock.advance(1000)
  await report([packageResult('GO-2021-1', LODASH)], 'Grype')
  const explanation = await explainOnly()
  const [trivy, grype] = explanation.members
  assert.deepEqual(
    [explanation.status, explanation.is_current, explanation.member_count, explanation.rejected_count],
    ['open', true, 2, 0],
  )
  assert.deepEqual([trivy.scanner, trivy.source, grype.scanner, grype.source], ['Trivy', 'cyclonedx', 'Grype', 'sarif'])
  assert.deepEqual(trivy.facts.vuln_ids, ['CVE-2021-23337'])
  assert.deepEqual(trivy.matches[0].alias_path, [])
  assert.deepEqual(grype.matches, [
    {
      code: 'same_vulnerability',
      detail: 'CVE-2021-23337 in the package lodash, reported as GO-2021-1.',
      on: 'vulnerability',
      value: 'CVE-2021-23337',
      alias_path: [
        { from: 'GO-2021-1', to: 'GHSA-35jh-r3h4-6jhm', source: 'osv' },
        { from: 'GHSA-35jh-r3h4-6jhm', to: 'CVE-2021-23337', source: 'osv' },
      ],
      with: [trivy.finding_id],
      with_count: 1,
    },
  ])
})

const SHELL = 'python.lang.security.audit.subprocess-shell-true'
const withCwe = (cwe: string, result: object) => ({ ...result, properties: { cwe } })

test("a member's reason is that of its finding, which is its first match", async () => {
  await report([withCwe('CWE-78', codeResult('B602', 'a.py', [1, 3]))], 'Bandit')
  await report([withCwe('CWE-78', codeResult(SHELL, 'a.py', [2, 5]))], 'Semgrep OSS')
  const findings = await listFindings(api, caller)
  for (const { finding_id, reason, matches } of (await explainOnly()).members) {
    assert.deepEqual(reason, findings.find(({ id }) => id === finding_id).grouping_reason)
    assert.deepEqual(
      matches.map(({ on, value, detail: text }: Json) => [on, value, text]),
      [
        [
          'weakness_and_lines',
          'python-subprocess-shell',
          `Bandit B602 and Semgrep OSS ${SHELL} are one weakness by the rule map (python-subprocess-shell), at overlapping lines of a.py.`,
        ],
        [
          'weakness_and_lines',
          'CWE-78',
          `Bandit B602 and Semgrep OSS ${SHELL} both report CWE-78, at overlapping lines of a.py.`,
        ],
      ],
    )
    assert.deepEqual([matches[0].code, matches[0].detail], [reason.code, reason.detail])
  }
})

test('a finding without others has no match and the reason single', async () => {
  await report([sarifResult('rule')], 'Linter')
  const { members, rejected, history } = await explainOnly()
  assert.deepEqual([members[0].reason.code, members[0].matches, rejected, history], ['single', [], [], []])
})

test('findings of the same package are rejected with what differs, the most similar first', async () => {
  await report([packageResult('CVE-2021-1001', 'pkg:npm/requests@1')], 'Grype')
  await report([packageResult('CVE-2021-1009', 'pkg:npm/requests@1')], 'Trivy')
  await report([packageResult('CVE-2021-1001', 'pkg:pypi/requests@1')], 'osv-scanner')
  await report([packageResult('CVE-2021-1001', 'pkg:npm/other@1')], 'snyk open source')
  const { rejected, rejected_count } = await explain(await issueOf('Grype'))
  assert.equal(rejected_count, 2)
  assert.deepEqual(
    rejected.map(({ scanner, code, detail }: Json) => [scanner, code, detail]),
    [
      ['osv-scanner', 'other_ecosystem', 'Different ecosystem: CVE-2021-1001 in pypi instead of npm.'],
      ['Trivy', 'other_vulnerability', 'Different vulnerability: CVE-2021-1009 instead of CVE-2021-1001.'],
    ],
  )
  assert.equal(rejected[1].issue_id, await issueOf('Trivy'))
  assert.deepEqual(rejected[1].facts.vuln_ids, ['CVE-2021-1009'])
})

test('findings of the same file are rejected for their weakness or their location', async () => {
  await report([withCwe('CWE-89', codeResult('sqli', 'a.ts', [1, 2], 'one()'))], 'One')
  await report([withCwe('CWE-89', codeResult('sqli', 'a.ts', [8, 9], 'two()'))], 'Two')
  await report([withCwe('CWE-79', codeResult('xss', 'a.ts', [1, 2]))], 'Three')
  await report([withCwe('CWE-89', codeResult('sqli', 'b.ts', [1, 2]))], 'Four')
  const { rejected } = await explain(await issueOf('One'))
  assert.deepEqual(
    rejected.map(({ scanner, code, detail }: Json) => [scanner, code, detail]),
    [
      ['Three', 'other_weakness', 'Different weakness: CWE-79 instead of CWE-89.'],
      ['Two', 'other_place', 'Different location: CWE-89 at lines 8 to 9.'],
    ],
  )
})

test('the nearest findings are rejected first, however many are stored before them', async () => {
  const far = Array.from({ length: 1500 }, (_, at) => codeResult(`far${at}`, 'a.ts', [at + 100, at + 100]))
  await report(far, 'Far')
  await report([codeResult('B602', 'a.ts', [20, 20]), codeResult('B607', 'a.ts', [20, 20])], 'Bandit')
  await report([codeResult('near', 'a.ts', [24, 24]), codeResult('nearer', 'a.ts', [17, 17])], 'Near')
  const [shell] = await api.services.sql`
    select issue_id from findings where org_id = ${caller.orgId} and rule_id = 'B602'`
  const { rejected, rejected_count } = await explain(shell?.issue_id)
  assert.deepEqual(
    rejected.slice(0, 4).map(({ facts }: Json) => facts.rule_id),
    ['B607', 'nearer', 'near', 'far0'],
  )
  assert.equal(rejected_count, 1503)
})

test('at most 20 rejected findings are shown, and all are counted', async () => {
  await report([codeResult('sqli', 'a.ts', [1, 2])], 'One')
  await report(
    Array.from({ length: 30 }, (_, at) => codeResult(`rule${at}`, 'a.ts', [at + 1, at + 1])),
    'Two',
  )
  const { rejected, rejected_count } = await explain(await issueOf('One'))
  assert.deepEqual([rejected.length, rejected_count], [20, 30])
})

test('neither a secret nor a hash of it is shown', async () => {
  const secret = 'AKIAIOSFODNN7EXAMPLE'
  await report([codeResult('aws-key', 'a.env', [1, 1], secret)], 'gitleaks')
  await report([codeResult('AWS', 'b.env', [7, 7], secret)], 'trufflehog')
  const [row] = await api.services.sql`
    select encode(context, 'hex') as context, encode(fingerprint, 'hex') as fingerprint
    from findings
    where org_id = ${caller.orgId} and context is not null
    limit 1`
  const { text, body } = await ask((await onlyIssue(api, caller)).id)
  assert.deepEqual([body.data.members[0].matches[0].on, body.data.members[0].matches[0].value], ['secret', null])
  for (const hidden of [secret, row?.context, row?.fingerprint]) assert.ok(hidden && !text.includes(hidden))
})

test('both issues of a merge show it in their history', async () => {
  await report([codeResult('sql-injection', 'a.ts', [1, 2], 'one()')], 'One')
  api.clock.advance(1000)
  await report([codeResult('sql-injection', 'a.ts', [8, 9], 'two()')], 'Two')
  const [staying, leaving] = [await issueOf('One'), await issueOf('Two')]
  api.clock.advance(1000)
  await report([codeResult('sql-injection', 'a.ts', [1, 9], 'both()')], 'Three')
  const stayed = await explain(staying)
  const left = await explain(leaving)
  assert.deepEqual([stayed.member_count, stayed.merged_into, left.merged_into], [3, null, staying])
  assert.deepEqual([left.members, left.rejected, left.member_count, left.is_current], [[], [], 0, true])
  for (const { history } of [stayed, left]) {
    assert.deepEqual(
      history.map(({ event, issue_id, other_issue_id, at }: Json) => ({ event, issue_id, other_issue_id, at })),
      [{ event: 'merged', issue_id: leaving, other_issue_id: staying, at: api.clock.now().toISOString() }],
    )
    assert.match(history[0].detail, /./)
  }
})

test('is_current is false if the current aliases would group the findings differently', async () => {
  await uploadReport(api, caller, bom('Trivy', LODASH, [{ id: 'CVE-2022-5001' }]))
  await uploadReport(api, caller, bom('Grype', LODASH, [{ id: 'GHSA-aaaa-bbbb-cccc' }]))
  assert.equal((await explain(await issueOf('Trivy'))).is_current, true)
  await api.services.sql`
    insert into vulnerability_aliases (id, canonical_id)
    select id, 'CVE-2022-5001' from unnest(array['GHSA-aaaa-bbbb-cccc', 'CVE-2022-5001']) id`
  assert.equal((await explain(await issueOf('Trivy'))).is_current, false)
})

test('the explanation of every issue of real reports agrees with its grouping', async () => {
  for (const name of ['grype', 'trivy', 'osv-scanner', 'snyk', 'gosec', 'gitleaks', 'scorecard']) {
    await uploadReport(
      api,
      caller,
      await readFile(new URL(`../../../../fixtures/sarif/${name}.sarif`, import.meta.url)),
    )
  }
  const findings = await listFindings(api, caller)
  const issues = await listIssues(api, caller)
  assert.ok(issues.some(({ member_count }) => member_count > 1))
  for (const { id, member_count } of issues) {
    const { is_current, members, ...explanation } = await explain(id)
    assert.deepEqual([is_current, explanation.member_count], [true, member_count])
    for (const { finding_id, reason, matches } of members) {
      assert.deepEqual(findings.find((finding) => finding.id === finding_id).grouping_reason, reason)
      if (matches.length > 0) assert.deepEqual([matches[0].code, matches[0].detail], [reason.code, reason.detail])
      else assert.equal(reason.code, 'single')
    }
  }
})

test("404 for an unknown issue, one of another organization and one beyond the plan's retention; 400 for an invalid id", async () => {
  const owner = await api.caller({ plan: 'business' })
  await uploadReport(api, owner, sarif([sarifResult('rule')]))
  const { id } = await onlyIssue(api, owner)
  assertError(await ask(id), 404, 'not_found')
  assertError(await ask('00000000-0000-4000-8000-000000000000'), 404, 'not_found')
  assertInvalid(await ask('issue'), '/path/id')
  assert.equal((await ask(id, owner.key)).status, 200)
  api.clock.advance(365 * DAY_MS + 1)
  assert.equal((await ask(id, owner.key)).status, 200, 'it is open')
  await api.services.sql`update security_issues set status = 'fixed' where id = ${id}`
  assertError(await ask(id, owner.key), 404, 'not_found')
})

test('402 plan_required with the required plan business on the team plan', async () => {
  const { key } = await api.caller({ plan: 'team' })
  const answer = await ask('00000000-0000-4000-8000-000000000000', key)
  assert.deepEqual(assertError(answer, 402, 'plan_required'), { requiredPlan: 'business' })
})

test('an issue of an untracked branch can be explained although no list shows it', async () => {
  await uploadReport(api, caller, sarif([sarifResult('rule')]), { tracked: false })
  const [finding] = await listFindings(api, caller)
  assert.equal((await explain(finding.issue_id)).members[0].finding_id, finding.id)
})
