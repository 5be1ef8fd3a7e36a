import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Check } from 'typebox/value'
import { IssueExplanation } from '../../../../../src/security/issues/issue-explanation.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { groupingOf, historyOf } from '../../../../support/grouping.ts'
import { bom, codeResult, listIssues, onlyIssue } from '../../../../support/issues.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif } from '../../../../support/sarif.ts'

const LODASH = 'pkg:npm/lodash@4.17.20'
const CVE = 'CVE-2024-1000'

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'security' })
})

/** Ids sort by age only if they are made at different times. */
function send(report: object, options = {}) {
  api.clock.advance(1000)
  return uploadReport(api, caller, report, options)
}

const upload = (tool: string, options = {}, vulnIds = [CVE]) =>
  send(
    bom(
      tool,
      LODASH,
      vulnIds.map((id) => ({ id })),
    ),
    options,
  )

function edit(person: Person, path: string, body?: object) {
  api.clock.advance(1000)
  return requestAs(api, person, 'POST', path, body)
}

const split = (issueId: string, findingIds: string[], comment?: string, person = ada) =>
  edit(person, `/security/issues/${issueId}/split`, {
    finding_ids: findingIds,
    ...(comment !== undefined && { comment }),
  })
const merge = (issueIds: string[], comment?: string, person = ada) =>
  edit(person, '/security/issues/merge', {
    issue_ids: issueIds,
    ...(comment !== undefined && { comment }),
  })

const undo = (triageId: string) => edit(ada, `/security/triage/${triageId}/undo`)

async function findingsBy(scanner: string, query = {}): Promise<Json[]> {
  return (await listFindings(api, caller, query)).filter((finding) => finding.scanner === scanner)
}

async function issueIdsByScanner(): Promise<Record<string, string[]>> {
  const ids: Record<string, string[]> = {}
  for (const { scanner, issue_id } of await listFindings(api, caller))
    ids[scanner] = [...new Set([...(ids[scanner] ?? []), issue_id])].sort()
  return ids
}

test('findings that are split off get a new issue, which later reports and branches respect', async () => {
  for (const tool of ['Grype', 'Trivy', 'Dependabot']) await upload(tool)
  const issue = await onlyIssue(api, caller)
  const [trivy] = await findingsBy('Trivy')
  const answer = await split(issue.id, [trivy.id], 'Vendored copy.')
  assert.equal(answer.status, 200, answer.text)
  const [old, made] = answer.body.data.issues
  assert.deepEqual([old.id, old.member_count, old.split_from], [issue.id, 2, null])
  assert.deepEqual([made.member_count, made.split_from, made.status, made.severity], [1, issue.id, 'open', 'high'])
  assert.deepEqual((await listIssues(api, caller)).map(({ id }) => id).sort(), [old.id, made.id].sort())
  const apart = { Grype: [old.id], Trivy: [made.id], Dependabot: [old.id] }
  for (const tool of ['Trivy', 'Grype']) await upload(tool, { gitRef: 'feature' })
  await upload('Trivy', {}, [CVE, 'CVE-2024-2000'])
  await upload('OSV-Scanner')
  const { 'OSV-Scanner': osv, Trivy: ofTrivy, ...others } = await issueIdsByScanner()
  assert.deepEqual(others, { Grype: apart.Grype, Dependabot: apart.Dependabot })
  assert.deepEqual(osv, [old.id])
  assert.deepEqual(ofTrivy?.includes(made.id) && ofTrivy.length, 2)
  const [{ grouping_reason }] = await findingsBy('Trivy', { issue_id: made.id })
  assert.equal(grouping_reason.code, 'same_vulnerability')
  assert.deepEqual(await historyOf(api, caller), [
    { event: 'split', issue_id: made.id, other_issue_id: old.id, detail: 'Split by Ada Lovelace: Vendored copy.' },
  ])
})

test('merged issues stay together across packages, reports and branches', async () => {
  await upload('Grype')
  await send(bom('Grype', 'pkg:npm/other@1.0.0', [{ id: 'CVE-2024-3000' }]), { category: 'other' })
  await send(sarif([codeResult('sqli', 'src/a.ts', [3, 3], 'query(x)')], 'Semgrep'))
  const ids = (await listIssues(api, caller)).map(({ id }) => id)
  const answer = await merge(ids, 'One cause.')
  assert.equal(answer.status, 200, answer.text)
  const [kept] = answer.body.data.issues
  assert.deepEqual([kept.id, kept.member_count], [ids.toSorted()[0], 3])
  assert.deepEqual(kept.vuln_ids, [CVE, 'CVE-2024-3000'])
  await upload('Grype', { gitRef: 'feature' })
  await send(sarif([codeResult('sqli', 'src/a.ts', [3, 3], 'query(x)')], 'Semgrep'), {
    gitRef: 'feature',
  })
  await upload('Trivy')
  assert.equal((await onlyIssue(api, caller)).member_count, 6)
  const reasons = (await listFindings(api, caller)).map(({ grouping_reason: { code, detail } }) => `${code}: ${detail}`)
  assert.equal(reasons.filter((reason) => reason === 'single: Merged by Ada Lovelace: One cause.').length, 1)
  await drainQueue(api)
  assert.equal((await onlyIssue(api, caller)).member_count, 6)
})

test('undone, splits and merges leave findings and issues as they were', async () => {
  for (const tool of ['Grype', 'Trivy', 'Dependabot']) await upload(tool)
  await send(bom('Grype', 'pkg:npm/other@1.0.0', [{ id: 'CVE-2024-3000' }]), { category: 'other' })
  const before = await groupingOf(api, caller)
  const [other, issue] = await listIssues(api, caller)
  const [trivy] = await findingsBy('Trivy')
  const { triage_id: first, issues } = (await split(issue.id, [trivy.id])).body.data
  const between = await groupingOf(api, caller)
  const { triage_id: second } = (await merge([issues[1].id, other.id])).body.data
  assertError(await undo(first), 409, 'triaged_again')
  assert.equal((await undo(second)).body.data.status, 'undone')
  assert.deepEqual(await groupingOf(api, caller), between)
  await undo(first)
  const { findings, issues: restored } = await groupingOf(api, caller)
  const made = { ...restored.find(({ id }) => id === issues[1].id) }
  assert.deepEqual(findings, before.findings)
  assert.deepEqual(
    restored.filter(({ id }) => id !== made.id),
    before.issues,
  )
  assert.deepEqual([made.merged_into, made.listed], [issue.id, false])
})

test('findings that join a split issue return with it when the split is undone', async () => {
  for (const tool of ['Grype', 'Trivy']) await upload(tool)
  const issue = await onlyIssue(api, caller)
  const [trivy] = await findingsBy('Trivy')
  const { triage_id } = (await split(issue.id, [trivy.id])).body.data
  await upload('Trivy', { gitRef: 'feature' })
  await undo(triage_id)
  assert.deepEqual(await issueIdsByScanner(), { Grype: [issue.id], Trivy: [issue.id] })
  assert.equal((await onlyIssue(api, caller)).id, issue.id)
})

test('errors of a split', async () => {
  for (const tool of ['Grype', 'Trivy']) await upload(tool)
  await send(bom('Grype', 'pkg:npm/other@1.0.0', [{ id: 'CVE-2024-3000' }]), { category: 'other' })
  const [other, issue] = await listIssues(api, caller)
  const [trivy, grype] = [(await findingsBy('Trivy'))[0], (await findingsBy('Grype', { issue_id: issue.id }))[0]]
  const [stranger] = await findingsBy('Grype', { issue_id: other.id })
  assertError(await split(issue.id, [trivy.id, grype.id]), 400, 'invalid_request')
  assertError(await split(issue.id, []), 400, 'invalid_request')
  assertError(await split(issue.id, [stranger.id]), 409, 'finding_not_in_issue')
  assertError(await split(issue.id, [crypto.randomUUID()]), 404, 'not_found')
  assertError(await split(crypto.randomUUID(), [trivy.id]), 404, 'not_found')
  const viewer = await createPerson(api, { ...caller, role: 'developer' })
  assertError(await split(issue.id, [trivy.id], 'No.', viewer), 403, 'insufficient_permission')
  const foreign = await createPerson(api, { ...(await api.caller()), role: 'security' })
  assertError(await split(issue.id, [trivy.id], 'No.', foreign), 404, 'not_found')
  const parallel = await Promise.all([split(issue.id, [trivy.id]), split(issue.id, [trivy.id])])
  assert.deepEqual(parallel.map(({ status }) => status).sort(), [200, 409])
})

test('errors of a merge', async () => {
  await upload('Grype', { repository: 'acme/one' })
  await upload('Grype', { repository: 'acme/two' })
  await send(bom('Grype', 'pkg:npm/other@1.0.0', [{ id: 'CVE-2024-3000' }]), {
    ...{ repository: 'acme/one', category: 'other' },
  })
  const issues = await listIssues(api, caller)
  const ofOne = issues.filter(({ repository }) => repository === 'acme/one').map(({ id }) => id)
  assertError(await merge(issues.map(({ id }) => id)), 409, 'different_repositories')
  assertError(await merge([ofOne[0], ofOne[0]] as string[]), 400, 'invalid_request')
  assertError(await merge([ofOne[0] as string, crypto.randomUUID()]), 404, 'not_found')
  const parallel = await Promise.all([merge(ofOne), merge(ofOne)])
  assert.deepEqual(parallel.map(({ status }) => status).sort(), [200, 409])
  const merged = parallel.find(({ status }) => status === 409)
  assertError(merged as (typeof parallel)[number], 409, 'issue_merged')
})

async function explain(issueId: string): Promise<Json> {
  const { body, text } = await requestAs(api, ada, 'GET', `/security/issues/${issueId}/explain`)
  assert.ok(Check(IssueExplanation, body.data), text)
  return body.data
}

test('the explanation of a split issue names the person and the comment, and is current', async () => {
  for (const tool of ['Grype', 'Trivy']) await upload(tool)
  const issue = await onlyIssue(api, caller)
  const [trivy] = await findingsBy('Trivy')
  const [old, made] = (await split(issue.id, [trivy.id], 'Vendored copy.')).body.data.issues
  await upload('Trivy', { gitRef: 'feature' })
  for (const [id, others] of [
    [old.id, 2],
    [made.id, 1],
  ]) {
    const { is_current, rejected, rejected_count } = await explain(id)
    assert.deepEqual([is_current, rejected_count], [true, others])
    for (const { code, detail } of rejected)
      assert.deepEqual([code, detail], ['split', 'Split by Ada Lovelace: Vendored copy.'])
  }
  const { members, history, split_from } = await explain(made.id)
  assert.deepEqual([split_from, history.length], [issue.id, 1])
  assert.deepEqual(
    members.map((member: Json) => [member.reason.code, member.matches.length > 0]),
    [
      ['same_vulnerability', true],
      ['same_vulnerability', true],
    ],
  )
  const [alone] = (await explain(old.id)).members
  assert.deepEqual(
    [alone.reason.code, alone.reason.detail, alone.matches],
    ['single', 'Other findings were split off by Ada Lovelace: Vendored copy.', []],
  )
})

test('the explanation of a merged issue has the findings of all packages, and is current', async () => {
  for (const tool of ['Grype', 'Trivy']) await upload(tool)
  await send(bom('Grype', 'pkg:npm/other@1.0.0', [{ id: 'CVE-2024-3000' }]), { category: 'other' })
  const issues = await listIssues(api, caller)
  const [kept] = (await merge(issues.map(({ id }) => id))).body.data.issues
  const { is_current, members, rejected_count } = await explain(kept.id)
  assert.deepEqual([is_current, rejected_count], [true, 0])
  assert.deepEqual(members.map((member: Json) => member.reason.code).sort(), [
    'same_vulnerability',
    'same_vulnerability',
    'single',
  ])
  const other = members.find((member: Json) => member.reason.code === 'single')
  assert.equal(other.reason.detail, 'Merged by Ada Lovelace.')
})

test('splits and merges are audited, and listed as triages', async () => {
  for (const tool of ['Grype', 'Trivy']) await upload(tool)
  const issue = await onlyIssue(api, caller)
  const [trivy] = await findingsBy('Trivy')
  const { triage_id, issues } = (await split(issue.id, [trivy.id], 'Vendored copy.')).body.data
  await merge(issues.map(({ id }: Json) => id))
  const entries = await api.services.sql`
    select principal_type, principal_id, action, object_id, reason
    from audit_entries
    where org_id = ${caller.orgId}
    order by id`
  const by = { principal_type: 'user', principal_id: ada.userId, object_id: issue.id }
  assert.deepEqual(
    entries.map((entry) => ({ ...entry })),
    [
      { ...by, action: 'issue.split', reason: 'Vendored copy.' },
      { ...by, action: 'issue.merge', reason: null },
    ],
  )
  const { data } = (await requestAs(api, ada, 'GET', '/security/triage')).body
  assert.deepEqual(
    data.map((triage: Json) => [triage.action, triage.created_by_name, triage.status, triage.id === triage_id]),
    [
      ['merge', 'Ada Lovelace', 'active', false],
      ['split', 'Ada Lovelace', 'active', true],
    ],
  )
})
