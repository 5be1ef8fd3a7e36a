import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { measureRegroup, regroupOrganization } from '../../src/security/issues/regroup-organization.ts'
import type { RegroupRun } from '../../src/security/issues/regroup-run.store.ts'
import { undoRegroup } from '../../src/security/issues/undo-regroup.ts'
import { insertHistory } from '../../src/security/writing/issue-writing.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { groupingOf, historyOf } from '../support/grouping.ts'
import { bom, codeResult, listIssues, packageResult } from '../support/issues.ts'
import { runProgram } from '../support/program.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'
import { scrambleGroups } from '../support/scramble.ts'

const LODASH = 'pkg:npm/lodash@4.17.20'
/** So few that every repository takes several batches. */
const ISSUES_AT_ONCE = 2
const REPOSITORIES = ['acme/one', 'acme/two']

let api: TestApi
let dataDir: string
let caller: Caller

before(async () => {
  api = await startTestApi()
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-issues-'))
})
after(async () => {
  await api?.close()
  rmSync(dataDir, { recursive: true, force: true })
})
beforeEach(async () => {
  caller = await api.caller()
  for (const repository of REPOSITORIES) await uploadReports(repository)
})

/** 12 findings of 7 issues. */
async function uploadReports(repository: string): Promise<void> {
  const upload = (report: object) => uploadReport(api, caller, report, { repository })
  await upload(bom('Trivy', LODASH, [{ id: 'CVE-2024-1001' }, { id: 'CVE-2024-1002', severity: 'low' }]))
  api.clock.advance(1)
  await upload(sarif([packageResult('CVE-2024-1001', LODASH), packageResult('CVE-2024-1003', LODASH)], 'Grype'))
  api.clock.advance(1)
  const lines = (tool: string, at: number) => [
    codeResult(`${tool}/sql-injection`, 'src/db.ts', [at, at + 5]),
    codeResult(`${tool}/sql-injection`, 'src/db.ts', [at + 40, at + 45]),
    codeResult(`${tool}/xss`, 'src/page.ts', [at, at]),
    codeResult(`${tool}/xss`, `src/${tool}.ts`, [at, at]),
  ]
  await upload(sarif(lines('one', 10), 'One'))
  api.clock.advance(1)
  await upload(sarif(lines('two', 12), 'Two'))
}

const regroup = (follow: (run: RegroupRun) => void = () => {}) =>
  regroupOrganization(api.services, caller.orgId, follow, ISSUES_AT_ONCE)
const undo = (id: string) => undoRegroup(api.services, caller.orgId, id, () => {})
const grouping = () => groupingOf(api, caller)

/** Which findings are one issue, and why: without the ids of issues. */
async function partition(): Promise<string[]> {
  const { findings } = await grouping()
  const members = Map.groupBy(findings, ({ issue_id }) => issue_id)
  return [...members.values()]
    .map((group) => group.map((finding) => `${finding.id} ${finding.grouping_code} ${finding.grouping_detail}`).join())
    .sort()
}

async function requireConsistent(): Promise<void> {
  const { findings, issues } = await grouping()
  const withMembers = new Set(findings.map(({ issue_id }) => issue_id))
  for (const issue of issues) assert.equal(issue.merged_into === null, withMembers.has(issue.id), issue.id)
  const listed = await listIssues(api, caller)
  const total = listed.reduce((sum, issue) => sum + issue.member_count, 0)
  assert.equal(total, findings.length)
}

for (const seed of [1, 2, 3, 4, 5]) {
  test(`a regroup groups arbitrary groups by the rules, and undoing it restores them (${seed})`, async () => {
    const wanted = await partition()
    await scrambleGroups(api, caller, seed)
    const before = await grouping()
    api.clock.advance(1000)
    const { id, status, findings } = await regroup()
    assert.deepEqual(await partition(), wanted)
    assert.deepEqual([status, findings >= 24], ['finished', true])
    await requireConsistent()
    const again = await regroup()
    assert.deepEqual([again.moved, again.restated, again.batches], [0, 0, 0])
    api.clock.advance(1000)
    assert.equal((await undo(id)).status, 'undone')
    assert.deepEqual(await grouping(), before)
  })
}

test('an interrupted regroup continues where it stopped', async () => {
  const wanted = await partition()
  await scrambleGroups(api, caller, 6)
  const before = await grouping()
  let batches = 0
  const dying = () => {
    batches += 1
    if (batches === 3) throw new Error('killed')
  }
  await assert.rejects(regroup(dying), /killed/)
  const { id } = await regroup()
  assert.deepEqual(await partition(), wanted)
  const runs = await api.services.sql`select id, status from issue_regroups where org_id = ${caller.orgId}`
  assert.deepEqual([...runs], [{ id, status: 'finished' }])
  await undo(id)
  assert.deepEqual(await grouping(), before)
})

test('an interrupted regroup can be undone, and an interrupted undo continues', async () => {
  await scrambleGroups(api, caller, 7)
  const before = await grouping()
  let batches = 0
  const dying = () => {
    batches += 1
    if (batches === 4) throw new Error('killed')
  }
  await assert.rejects(regroup(dying), /killed/)
  const [run] = await api.services.sql<{ id: string }[]>`select id from issue_regroups where org_id = ${caller.orgId}`
  const id = run?.id as string
  const stopping = () => {
    throw new Error('killed')
  }
  await assert.rejects(undoRegroup(api.services, caller.orgId, id, stopping), /killed/)
  await assert.rejects(regroup(), /is only partly undone\. Run --undo/)
  await undo(id)
  assert.deepEqual(await grouping(), before)
})

test('two regroups at the same time share the work', async () => {
  const wanted = await partition()
  await scrambleGroups(api, caller, 8)
  const [one, other] = await Promise.all([regroup(), regroup()])
  assert.equal(one.id, other.id)
  assert.deepEqual(await partition(), wanted)
  await requireConsistent()
})

test('two processes continue a regroup that was interrupted in several repositories', async () => {
  for (const repository of ['acme/three', 'acme/four', 'acme/five']) await uploadReports(repository)
  const wanted = await partition()
  await scrambleGroups(api, caller, 12)
  const before = await grouping()
  const dying = (run: RegroupRun) => {
    if (Object.keys(run.in_progress).length > 1) throw new Error('killed')
  }
  await assert.rejects(regroup(dying), /killed/)
  const [one, other] = await Promise.all([regroup(), regroup()])
  assert.deepEqual([one.id, one.status, other.status], [other.id, 'finished', 'finished'])
  assert.deepEqual([one.in_progress, other.in_progress], [{}, {}])
  assert.deepEqual(await partition(), wanted)
  await requireConsistent()
  await undo(one.id)
  assert.deepEqual(await grouping(), before)
})

test('a regroup that an earlier version began continues where it stopped', async () => {
  const { sql } = api.services
  await scrambleGroups(api, caller, 14)
  const before = await grouping()
  // In the first repository, everything is regrouped.
  const [begun] = await sql<[{ id: string }]>`
    insert into issue_regroups (org_id, id, status, repository_no, bucket, batches, started_at, updated_at)
    select org_id, gen_random_uuid(), 'running', min(id), decode(repeat('ff', 16), 'hex'), 3, now(), now()
    from reported_repositories
    where org_id = ${caller.orgId}
    group by org_id
    returning id`
  const { id, status, findings } = await regroup()
  assert.deepEqual([id, status, findings], [begun.id, 'finished', 12])
  const numbers = await sql<{ batch: number }[]>`
    select distinct batch from issue_regroup_findings where org_id = ${caller.orgId}`
  assert.ok(numbers.every(({ batch }) => batch > 3))
  await undo(id)
  assert.deepEqual(await grouping(), before)
})

test('a regroup that is undone while it runs ends, and leaves nothing behind', async () => {
  await scrambleGroups(api, caller, 13)
  const before = await grouping()
  let undoing: Promise<unknown> | undefined
  const run = await regroup(({ id }) => {
    undoing ??= undo(id)
  })
  await undoing
  assert.match(run.status, /^(undoing|undone)$/)
  assert.deepEqual(await grouping(), before)
})

test('a dry run counts what a regroup would do and writes nothing', async () => {
  await scrambleGroups(api, caller, 9)
  const before = [await grouping(), await historyOf(api, caller)]
  const preview = await measureRegroup(api.services, caller.orgId, () => {})
  assert.deepEqual([await grouping(), await historyOf(api, caller)], before)
  const real = await regroupOrganization(api.services, caller.orgId, () => {})
  const counts = ({ moved, restated, merged, split }: typeof preview) => ({ moved, restated, merged, split })
  assert.deepEqual(counts(preview), counts(real))
  assert.ok(real.moved > 0)
})

test('no finding is lost if reports are read and issues are listed during a regroup', async () => {
  await scrambleGroups(api, caller, 10)
  const reading = async () => {
    for (let read = 0; read < 10; read += 1) {
      const issues = await listIssues(api, caller)
      assert.ok(issues.every(({ member_count }) => member_count > 0))
    }
  }
  const [{ id }] = await Promise.all([
    regroup(),
    reading(),
    ...REPOSITORIES.map((repository) =>
      uploadReport(api, caller, bom('Snyk', LODASH, [{ id: 'CVE-2024-1001' }]), { repository }),
    ),
  ])
  await requireConsistent()
  await regroup()
  await requireConsistent()
  await undo(id)
  await requireConsistent()
})

for (const wasMerged of [false, true]) {
  test(`a finding that was added after a regroup keeps an issue when the regroup is undone; ${wasMerged ? 'a restored issue is merged again' : 'a new issue is removed'}`, async () => {
    const { sql } = api.services
    const [issue] = (await listIssues(api, caller)).filter(({ vuln_ids }) => vuln_ids.includes('CVE-2024-1003'))
    const [joined] = (await listIssues(api, caller)).filter(
      ({ vuln_ids, repository }) => vuln_ids.includes('CVE-2024-1002') && repository === issue.repository,
    )
    // As if the rules had made one issue of two vulnerabilities.
    await sql`update findings set issue_id = ${joined.id} where org_id = ${caller.orgId} and issue_id = ${issue.id}`
    await sql`
    update security_issues
    set merged_into = ${joined.id}, listed = false
    where org_id = ${caller.orgId}
      and id = ${issue.id}`
    if (wasMerged)
      await insertHistory(
        sql,
        caller.orgId,
        [{ ...MERGED, issue_id: issue.id, other_issue_id: joined.id }],
        api.clock.now(),
      )
    const before = await grouping()
    const { id, split } = await regroup()
    const isBack = (await listIssues(api, caller)).some((each) => each.id === issue.id)
    assert.equal(isBack, wasMerged)
    assert.equal(split, 1)
    await uploadReport(api, caller, bom('Snyk', LODASH, [{ id: 'CVE-2024-1003' }]), { repository: issue.repository })
    await uploadReport(api, caller, bom('Snyk', LODASH, [{ id: 'CVE-2024-1003' }]), { repository: 'acme/new' })
    await undo(id)
    await requireConsistent()
    const back = (await listIssues(api, caller)).find((each) => each.id === joined.id)
    assert.equal(back?.member_count, 3)
    const after = await grouping()
    const known = new Set(before.findings.map((finding) => finding.id))
    assert.deepEqual(
      after.findings.filter((finding) => known.has(finding.id)),
      before.findings,
    )
    const merged = after.issues.find((each) => each.id === issue.id)
    assert.deepEqual(
      merged,
      before.issues.find((each) => each.id === issue.id),
    )
  })
}

const MERGED = { event: 'merged', detail: 'For the test.' } as const

test('issues regroup prints changes with reasons, shows its progress on standard error, and can be undone', async () => {
  await scrambleGroups(api, caller, 11)
  const before = await grouping()
  const run = (...args: string[]) =>
    runProgram(dataDir, ['issues', 'regroup', '--org', caller.slug, ...args], { DATABASE_URL: api.database.url })
  const dry = await run('--dry-run', '--json')
  assert.equal(dry.code, 0, dry.stderr)
  assert.deepEqual([dry.json.dry_run, dry.json.regroup_id], [true, null])
  assert.deepEqual(await grouping(), before)
  const { code, json, stderr } = await run('--json')
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^24 of 24 findings$/m)
  assert.deepEqual(
    [json.moved, json.merged, json.split, json.changes_left_out],
    [dry.json.moved, dry.json.merged, dry.json.split, 0],
  )
  assert.equal(json.changes.length, json.merged + json.split)
  for (const { event, detail } of json.changes) assert.ok(['merged', 'split'].includes(event) && detail.endsWith('.'))
  const none = await run()
  assert.match(
    none.stdout,
    /^24 findings regrouped: 0 moved to another issue, 0 with a new reason\. 0 issues merged, 0 split\.$/m,
  )
  const undone = await run('--undo', json.regroup_id, '--json')
  assert.deepEqual(undone.json, { regroup_id: json.regroup_id, status: 'undone' })
  assert.deepEqual(await grouping(), before)
  const refused = await run('--undo', 'latest')
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
})
