import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { measureRegroup, regroupOrganization } from '../../src/security/issues/regroup-organization.ts'
import { undoRegroup } from '../../src/security/issues/undo-regroup.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { groupingOf } from '../support/grouping.ts'
import { bom, codeResult, listIssues } from '../support/issues.ts'
import type { Json } from '../support/json.ts'
import { createPerson, type Person, requestAs } from '../support/people.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'

const SEEDS = [1, 2, 3]
const nothing = () => {}

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

const BRANCHES = ['main', 'feature', 'release']

/**
 * A report of some packages or lines, by one of a few scanners. Reports of one seed often overlap.
 */
function sendReport(random: SeededRandom) {
  api.clock.advance(1000)
  const options = { gitRef: random.pick(BRANCHES), tracked: true }
  if (random.below(2) === 0) {
    const ids = ['CVE-2024-1000', 'CVE-2024-2000', 'CVE-2024-3000'].filter(() => random.below(3) > 0)
    const purl = `pkg:npm/${random.pick(['lodash', 'axios'])}@1.0.0`
    const report = bom(
      random.pick(['Grype', 'Trivy', 'Dependabot']),
      purl,
      ids.map((id) => ({ id })),
    )
    return uploadReport(api, caller, report, { ...options, category: purl })
  }
  const lines = [3, 7, 11].filter(() => random.below(3) > 0)
  const tool = random.pick(['Semgrep', 'CodeQL', 'Snyk'])
  const file = random.pick(['src/a.ts', 'src/b.ts'])
  const results = lines.map((line) => ({
    ...codeResult(random.pick(['js/dom-xss', 'py/dom-xss']), file, [line, line], `write(${line})`),
  }))
  return uploadReport(api, caller, sarif(results, tool), { ...options, category: file })
}

type Issue = { id: string; findings: string[] }

async function currentIssues(): Promise<Issue[]> {
  const { findings } = await groupingOf(api, caller)
  const byIssue = Map.groupBy(findings as unknown as { id: string; issue_id: string }[], ({ issue_id }) => issue_id)
  return [...byIssue].map(([id, of]) => ({ id, findings: of.map((finding) => finding.id) }))
}

const post = (path: string, body?: unknown): Promise<Answer> => {
  api.clock.advance(1000)
  return requestAs(api, ada, 'POST', path, body)
}

/** Splits, merges or undoes something at random. Returns what was done, or null. */
async function edit(random: SeededRandom, done: string[]): Promise<Answer | null> {
  const issues = await currentIssues()
  const big = issues.filter(({ findings }) => findings.length > 1)
  const choice = random.below(5)
  if (choice === 0 && done.length > 0) return post(`/security/triage/${random.pick(done)}/undo`)
  if (choice < 3 && big.length > 0) {
    const { id, findings } = random.pick(big)
    const moved = findings.slice(1).filter(() => random.below(2) === 0)
    return post(`/security/issues/${id}/split`, { finding_ids: moved.length > 0 ? moved : [findings[0]] })
  }
  if (issues.length < 2) return null
  const ids = [...new Set([random.pick(issues).id, random.pick(issues).id])]
  return ids.length < 2 ? null : post('/security/issues/merge', { issue_ids: ids })
}

function note(answer: Answer | null, done: string[]): void {
  if (answer === null) return
  // 400 if all other findings have left the issue in the meantime.
  assert.ok([200, 400, 409].includes(answer.status), answer.text)
  if (answer.body.data?.triage_id) done.push(answer.body.data.triage_id)
}

/** Compares the stored grouping with the edits by SQL: for two findings, the latest edit counts. */
async function assertEditsHold(): Promise<void> {
  const { sql } = api.services
  const broken = await sql`
    select distinct on (one.finding_id, other.finding_id) one.finding_id, other.finding_id as other_id, one.edit_no,
      one.side = other.side as together, a.issue_id = b.issue_id as is_together
    from issue_pins one
    join issue_pins other
      on other.org_id = one.org_id
      and other.edit_no = one.edit_no
      and other.finding_id > one.finding_id
    join findings a on a.org_id = one.org_id and a.id = one.finding_id
    join findings b on b.org_id = one.org_id and b.id = other.finding_id
    where one.org_id = ${caller.orgId}
    order by one.finding_id, other.finding_id, one.edit_no desc`
  assert.deepEqual(
    broken.filter(({ together, is_together }) => together !== is_together),
    [],
  )
}

/** Every issue that is listed has findings, and its counts and status are those of its findings. */
async function assertSound(): Promise<void> {
  const { findings, issues } = await groupingOf(api, caller)
  const used = new Set(findings.map(({ issue_id }) => issue_id as string))
  for (const { id, merged_into, listed } of issues) {
    assert.equal(used.has(id as string), merged_into === null, `issue ${id} has findings and is merged, or neither`)
    if (merged_into !== null) assert.equal(listed, false)
  }
  const listed = await listIssues(api, caller)
  const counts = listed.map((issue: Json) => issue.member_count).reduce((sum: number, count: number) => sum + count, 0)
  assert.equal(counts, findings.length)
}

for (const seed of SEEDS) {
  test(`splits, merges, undos, reports and regroups in a row keep every edit (${seed})`, async () => {
    const random = new SeededRandom(seed)
    const done: string[] = []
    for (let step = 0; step < 30; step += 1) {
      if (step < 5 || random.below(3) === 0) await sendReport(random)
      else note(await edit(random, done), done)
      await assertEditsHold()
      await assertSound()
    }
    const before = await groupingOf(api, caller)
    const { moved, merged, split } = await measureRegroup(api.services, caller.orgId, nothing)
    assert.deepEqual({ moved, merged, split }, { moved: 0, merged: 0, split: 0 })
    await regroupOrganization(api.services, caller.orgId, nothing, 2)
    assert.deepEqual(await groupingOf(api, caller), before)
  })

  test(`splits, merges, undos, reports and regroups at the same time keep every edit (${seed})`, async () => {
    const random = new SeededRandom(seed)
    const done: string[] = []
    for (let step = 0; step < 4; step += 1) await sendReport(random)
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all([
        edit(random, done),
        edit(random, done),
        edit(random, done),
        sendReport(random).then(() => null),
        sendReport(random).then(() => null),
        regroupOrganization(api.services, caller.orgId, nothing, 1).then(() => null),
      ])
      for (const answer of answers) note(answer, done)
      await assertEditsHold()
      await assertSound()
    }
  })

  test(`undone in the reverse order, splits and merges leave the grouping as it was (${seed})`, async () => {
    const random = new SeededRandom(seed)
    for (let step = 0; step < 8; step += 1) await sendReport(random)
    const undone: { id: string; before: unknown }[] = []
    for (let step = 0; step < 8; step += 1) {
      const before = (await groupingOf(api, caller)).findings
      const answer = await edit(random, [])
      if (answer?.status === 200) undone.push({ id: answer.body.data.triage_id, before })
    }
    assert.ok(undone.length > 1)
    for (const { id, before } of undone.reverse()) {
      const answer = await post(`/security/triage/${id}/undo`)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual((await groupingOf(api, caller)).findings, before)
      await assertSound()
    }
    const pins = await api.services.sql`select from issue_pins where org_id = ${caller.orgId}`
    assert.equal(pins.length, 0)
  })
}

test('undoing a regroup that came before splits and merges keeps them', async () => {
  const random = new SeededRandom(7)
  for (let step = 0; step < 8; step += 1) await sendReport(random)
  const { sql } = api.services
  const [first] = await sql`select id from security_issues where org_id = ${caller.orgId} order by id limit 1`
  await sql`
    update findings
    set issue_id = ${first?.id}, grouping_code = 'same_location', grouping_detail = 'By chance.'
    where org_id = ${caller.orgId}`
  await sql`
    update security_issues
    set merged_into = ${first?.id}, listed = false
    where org_id = ${caller.orgId}
      and id <> ${first?.id}`
  const run = await regroupOrganization(api.services, caller.orgId, nothing)
  assert.ok(run.split > 0)
  const done: string[] = []
  for (let step = 0; step < 6; step += 1) note(await edit(random, []), done)
  assert.ok(done.length > 2)
  await undoRegroup(api.services, caller.orgId, run.id, nothing)
  await assertEditsHold()
  await assertSound()
})
