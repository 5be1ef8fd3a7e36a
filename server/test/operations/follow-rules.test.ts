import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { followRules } from '../../src/security/issues/follow-changes.job.ts'
import { regroupOrganization } from '../../src/security/issues/regroup-organization.ts'
import { undoRegroup } from '../../src/security/issues/undo-regroup.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { groupingOf } from '../support/grouping.ts'
import { codeResult } from '../support/issues.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'
import { scrambleGroups } from '../support/scramble.ts'
import { dismissAll } from '../support/triage.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  for (const [tool, rule] of [
    ['Bandit', 'B602'],
    ['ruff', 'S602'],
  ] as const) {
    await uploadReport(api, caller, sarif([codeResult(rule, 'a.py', [7, 7]), codeResult(rule, 'b.py', [7, 7])], tool))
    api.clock.advance(1)
  }
})

const outdate = () => api.services.sql`insert into issue_rule_changes (org_id) values (${caller.orgId})`
const runs = () => api.services.sql<{ id: string; status: string }[]>`
  select id, status from issue_regroups where org_id = ${caller.orgId} order by id`
const follow = () => followRules.run(api.services, {})
/** Which finding is in which issue, by the findings of each. */
const issues = async () => {
  const { findings } = await groupingOf(api, caller)
  const groups = Map.groupBy(findings, ({ issue_id }) => issue_id)
  return [...groups.values()].map((members) => members.map(({ id }) => id))
}

test('findings that were grouped by earlier rules are regrouped once, and it can be undone', async () => {
  const wanted = await issues()
  await scrambleGroups(api, caller, 1)
  const scrambled = await groupingOf(api, caller)
  await outdate()
  await follow()
  assert.deepEqual(await issues(), wanted)
  const [run] = await runs()
  await undoRegroup(api.services, caller.orgId, run?.id as string, () => {})
  assert.deepEqual((await groupingOf(api, caller)).findings, scrambled.findings)
  await follow()
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['undone'],
  )
})

test('what only followed a dismissal with other marks opens once, and undo dismisses it again', async () => {
  const stored = await listFindings(api, caller)
  const [looked] = stored.filter(({ rule_id, location }) => rule_id === 'B602' && location.path === 'a.py')
  await dismissAll(api, caller.orgId, { target: { type: 'finding', ids: [looked.id] } })
  const states = async () =>
    (await listFindings(api, caller)).map(({ id, state, dismissal_ended: ended }) => [
      id === looked.id,
      state,
      ended?.by,
    ])
  await outdate()
  await follow()
  const open = [false, 'open', 'Ada Lovelace']
  assert.deepEqual((await states()).sort(), [open, open, open, [true, 'dismissed', undefined]])
  const [run] = await runs()
  await undoRegroup(api.services, caller.orgId, run?.id as string, () => {})
  assert.ok((await states()).every(([, state, by]) => state === 'dismissed' && by === undefined))
})

test('of what followed, each is compared with what was looked at that is most like it', async () => {
  const stored = await listFindings(api, caller)
  const looked = stored.filter(({ rule_id }) => rule_id === 'B602').map(({ id }) => id)
  await dismissAll(api, caller.orgId, { target: { type: 'finding', ids: looked } })
  await outdate()
  await follow()
  const states = (await listFindings(api, caller)).map(({ rule_id, state }) => `${rule_id} ${state}`)
  assert.deepEqual(states.sort(), ['B602 dismissed', 'B602 dismissed', 'S602 open', 'S602 open'])
})

test('what was stored of a pull request opens no issue after an upgrade, what was stated to be tracked since does', async () => {
  const report = (rule: string, ref: string, tracked?: boolean) =>
    uploadReport(api, caller, sarif([codeResult(rule, `${rule}.py`, [7, 7])], 'Bandit'), {
      gitRef: ref,
      ...(tracked !== undefined && { tracked }),
    })
  await report('B301', 'refs/pull/1/merge', true)
  await api.services.sql`update finding_streams set reports = 0 where org_id = ${caller.orgId}`
  await report('B302', 'refs/pull/2/merge', true)
  const listed = async () => {
    const rows = await api.services.sql<{ rule_id: string }[]>`
      select rule_id
      from security_issues issue
      join findings finding on finding.org_id = issue.org_id and finding.issue_id = issue.id
      where issue.org_id = ${caller.orgId}
        and issue.listed
        and rule_id like 'B30%'`
    return rows.map(({ rule_id }) => rule_id).sort()
  }
  assert.deepEqual(await listed(), ['B301', 'B302'])
  await outdate()
  await follow()
  assert.deepEqual(await listed(), ['B302'])
})

test('undo leaves the dismissal of a finding ended that a report has changed since', async () => {
  const stored = await listFindings(api, caller)
  const [looked] = stored.filter(({ rule_id, location }) => rule_id === 'B602' && location.path === 'a.py')
  await dismissAll(api, caller.orgId, { target: { type: 'finding', ids: [looked.id] } })
  await outdate()
  await follow()
  api.clock.advance(1)
  const changed = { ...codeResult('B602', 'b.py', [7, 7]), message: { text: 'Q7 was violated' } }
  await uploadReport(api, caller, sarif([codeResult('B602', 'a.py', [7, 7]), changed], 'Bandit'))
  const [run] = await runs()
  await undoRegroup(api.services, caller.orgId, run?.id as string, () => {})
  const open = (await listFindings(api, caller)).filter(({ state }) => state === 'open')
  assert.deepEqual(
    open.map(({ rule_id, location, description }) => [rule_id, location.path, description]),
    [['B602', 'b.py', 'Q7 was violated']],
  )
})

test('an organization without earlier rules is not regrouped', async () => {
  await follow()
  assert.equal((await runs()).length, 0)
})

test('an interrupted run is finished, and all findings are regrouped by the current rules after it', async () => {
  const wanted = await issues()
  await outdate()
  const interrupt = () => {
    throw new Error('interrupted')
  }
  await assert.rejects(regroupOrganization(api.services, caller.orgId, interrupt, 1))
  await scrambleGroups(api, caller, 2)
  await follow()
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['running'],
  )
  api.clock.advance(3 * 60_000)
  await follow()
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['finished', 'finished'],
  )
  assert.deepEqual(await issues(), wanted)
})

test('the job stops between two batches when its worker stops', async () => {
  await outdate()
  await assert.rejects(followRules.run(api.services, {}, AbortSignal.abort(new Error('stopping'))), /stopping/)
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['running'],
  )
})
