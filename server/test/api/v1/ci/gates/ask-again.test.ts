// No second chance: an approval that is given out although the evidence has turned red opens a gate.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { decideByPolicy } from '../../../../../src/deployments/decisions/decide-by-policy.ts'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, pollGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, scoredResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001', gitRef: 'refs/heads/main' }
const TESTED = "attestations.exists(a, a.name == 'unit') && attestations.all(a, a.status == 'pass')"
const UNSCANNED = "!attestations.exists(a, a.name == 'scan' && a.status == 'fail')"

let api: TestApi
let caller: TokenCaller
let run: { id: string; claims: Json & { run_id: string } }

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
  await startRun()
})
test.afterEach(() => caller.close())

/** Of a commit of its own: what other runs of a commit have reported counts, too. */
async function startRun(fields: Json = {}): Promise<void> {
  const commit_sha = randomBytes(20).toString('hex')
  const claims = newRunClaims({ sha: commit_sha })
  const body = ownRun(claims, { timeout_minutes: 1440, commit_sha, ...fields })
  const created = await caller.send('POST', '/v1/ci/runs', body, claims)
  run = { id: created.body.data.id, claims }
}

/**
 * A policy of one rule for each expression, and a gate of `production` that it approves unless
 * `gate` says otherwise.
 */
async function demand(expressions: Record<string, string> = { tested: TESTED }, gate: Json = {}): Promise<void> {
  await applyRules(expressions)
  await configureGate(api, caller, { policies: ['checks'], ...gate })
}

async function applyRules(expressions: Record<string, string>): Promise<void> {
  const rules = Object.entries(expressions).map(([rule, text]) => `  - rule: ${rule}\n    expression: "${text}"\n`)
  await apply(api, caller, `name: checks\nmode: enforce\nbindings: { environments: ['*'] }\nrules:\n${rules.join('')}`)
}

function post(fields: Json = {}): Promise<Answer> {
  const body = { run_id: run.id, environment: 'production', ...fields }
  return caller.send('POST', '/v1/ci/gates', body, run.claims)
}

async function open(fields: Json = {}): Promise<Json> {
  const { status, body, text } = await post(fields)
  assert.ok(status <= 201, text)
  await drainQueue(api)
  return body.data
}

async function report(name: string, status: 'pass' | 'fail', drains = true): Promise<void> {
  api.clock.advance(1000)
  const failed = status === 'fail' ? 1 : 0
  const data = { total: 2, passed: 2 - failed, failed, errors: 0, skipped: 0 }
  const body = { job: { name: `job of ${name}` }, attestations: [{ kind: 'test-results', name, data }] }
  const sent = await caller.send('POST', `/v1/ci/runs/${run.id}/reports`, body, run.claims)
  assert.ok(sent.status <= 201, sent.text)
  if (drains) await drainQueue(api)
}

async function scan(rules: string[]): Promise<void> {
  api.clock.advance(1000)
  const results = rules.map((rule) => scoredResult(rule, 9.8))
  const file = sarif(results, 'Linter', { marks: [String(api.clock.now().getTime())] } as never)
  const { id } = await uploadReport(api, { ...caller, key: await caller.sign() }, file, REPOSITORY)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  await drainQueue(api)
}

const person = (role: 'developer' | 'release_manager' | 'org_admin', name: string) =>
  createPerson(api, { orgId: caller.orgId, slug: caller.slug, role, name })

async function answer(gate: Json, verb: 'approve' | 'reject', role: 'release_manager' | 'org_admin' = 'org_admin') {
  const who = await person(role, 'Ann')
  const body = { reason: 'Decided in the release meeting.' }
  return requestAs(api, who, 'POST', `/deployments/${gate.deployment_id}/${verb}`, body)
}

const deploymentOf = ({ deployment_id }: Json) => getDeployment(api, caller, deployment_id)

async function historyOf({ deployment_id }: Json): Promise<[action: string, reason: string][]> {
  const reader = await person('developer', 'Reader')
  const { body } = await requestAs(api, reader, 'GET', `/deployments/${deployment_id}/decision`)
  return body.data.history.map(({ action, reason }: Json) => [action, reason])
}

/** Opens a gate that waits, and then is approved without anybody reading it. */
async function openUnused(): Promise<Json> {
  const gate = await open()
  assert.equal(gate.decision, 'pending')
  await report('unit', 'pass')
  assert.equal((await deploymentOf(gate)).status, 'approved')
  return gate
}

/** The same, and its opener reads it. */
async function openUsed(): Promise<Json> {
  const gate = await openUnused()
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  return gate
}

test('an approval that nobody has used waits again when new evidence is red, and its history says which rule', async () => {
  await demand()
  const gate = await openUnused()
  await report('integration', 'fail')
  assert.equal((await deploymentOf(gate)).status, 'pending_approval')
  const { status, decision, note } = (await pollGate(api, gate)).body.data
  assert.deepEqual([status, decision], ['waiting', 'pending'])
  assert.match(note, /^checks: /)
  const [, reason] = (await historyOf(gate)).find(([action]) => action === 'deployment.ask_again') ?? []
  assert.match(
    reason ?? '',
    /^The approval had not been used when the policies were asked again\. Policies block: checks: /,
  )
  await report('integration', 'pass')
  const again = (await pollGate(api, gate)).body.data
  assert.deepEqual([again.gate_id, again.decision, again.supersedes], [gate.gate_id, 'approved', undefined])
})

test('an approval that nobody has used waits again when a policy is changed so that it does not pass', async () => {
  await demand()
  const gate = await openUnused()
  await applyRules({ tested: TESTED, reviewed: "attestations.exists(a, a.name == 'review')" })
  await drainQueue(api)
  assert.equal((await deploymentOf(gate)).status, 'pending_approval')
})

test('an approval that nobody has used waits again when a security report has findings that block', async () => {
  await demand({ tested: TESTED, secure: 'findings.open.critical == 0' })
  await scan([])
  const gate = await openUnused()
  await scan(['a'])
  assert.equal((await deploymentOf(gate)).status, 'pending_approval')
})

test('200 with the same gate, which waits again, if red evidence of an unused approval was not looked at yet', async () => {
  await demand()
  const gate = await openUnused()
  await report('integration', 'fail', false)
  const again = await post()
  assert.deepEqual([again.status, again.body.data.gate_id], [200, gate.gate_id])
  assert.deepEqual([again.body.data.decision, again.body.data.poll_token], ['pending', gate.poll_token])
})

test('200 with the same gate for a used approval whose policies pass, and 201 with another one where they do not', async () => {
  await demand()
  const gate = await openUsed()
  const same = await post()
  assert.deepEqual([same.status, same.body.data.gate_id, same.body.data.decision], [200, gate.gate_id, 'approved'])
  assert.ok(!('supersedes' in same.body.data) && !('superseded_by' in same.body.data))
  await report('unit', 'fail')
  assert.equal((await deploymentOf(gate)).status, 'approved')
  const other = await post()
  assert.deepEqual([other.status, other.body.data.decision, other.body.data.status], [201, 'pending', 'waiting'])
  assert.equal(other.body.data.supersedes, gate.gate_id)
  const old = (await pollGate(api, gate)).body.data
  assert.deepEqual([old.decision, old.superseded_by], ['approved', other.body.data.gate_id])
  const [replaced, replacing] = [await deploymentOf(gate), await deploymentOf(other.body.data)]
  assert.deepEqual([replaced.status, replaced.superseded_by_id], ['approved', replacing.id])
  assert.deepEqual([replacing.status, replacing.previous_attempt_id], ['pending_approval', replaced.id])
  const [, why] = (await historyOf(gate)).find(([action]) => action === 'deployment.supersede') ?? []
  assert.match(why ?? '', /opened again after its approval was used\. Policies block: /)
  const third = await post()
  assert.deepEqual([third.status, third.body.data.gate_id], [200, other.body.data.gate_id])
  await report('unit', 'pass')
  assert.equal((await post()).body.data.decision, 'approved')
})

test('a gate is the same in another spelling of its environment where the host has no case, and another one elsewhere', async () => {
  await configureGate(api, caller, { environment: '*' })
  const openAs = async (repository: string, ...environments: string[]) => {
    const { id: run_id } = await createRun(api, caller, { repository })
    const opened: string[] = []
    for (const environment of environments) {
      const body = { run_id, environment }
      opened.push((await api.request('POST', '/v1/ci/gates', { key: caller.key, body })).body.data.deployment_id)
    }
    return new Set(opened).size
  }
  assert.equal(await openAs('github.com/acme/web', 'Production', 'production', 'PRODUCTION'), 1)
  assert.equal(await openAs('github.com/acme/web', 'Production', 'production-eu'), 2)
  assert.equal(await openAs('gitlab.com/acme/web', 'Production', 'production'), 2)
})

test('of twelve simultaneous requests for a used approval that is red, one is 201 and all have the new gate', async () => {
  await demand()
  const gate = await openUsed()
  await report('unit', 'fail')
  const answers = await Promise.all(Array.from({ length: 12 }, () => post()))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201])
  assert.equal(new Set(answers.map(({ body }) => body.data.gate_id)).size, 1)
  assert.equal(answers[0]?.body.data.supersedes, gate.gate_id)
})

test('409 run_finished for a used approval that is red and whose attempt has ended', async () => {
  await demand()
  await openUsed()
  await report('unit', 'fail')
  await caller.send('PATCH', `/v1/ci/runs/${run.id}`, { status: 'success' }, run.claims)
  await drainQueue(api)
  assertError(await post(), 409, 'run_finished')
})

test('the end of the run says nothing about a deployment whose gate was opened again', async () => {
  await demand()
  const gate = await openUsed()
  await report('unit', 'fail')
  const other = await open()
  await report('unit', 'pass')
  await caller.send('PATCH', `/v1/ci/runs/${run.id}`, { status: 'success' }, run.claims)
  await drainQueue(api)
  assert.deepEqual([(await deploymentOf(gate)).status, (await deploymentOf(other)).status], ['approved', 'success'])
})

test('an override covers the rules that it named, and no others', async () => {
  await demand({ tested: TESTED, unscanned: UNSCANNED })
  await report('unit', 'fail')
  const gate = await open()
  assert.equal((await answer(gate, 'approve')).body.data.status, 'approved')
  await report('unit', 'fail')
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  const same = await post()
  assert.deepEqual([same.status, same.body.data.gate_id, same.body.data.decision], [200, gate.gate_id, 'approved'])
  await report('scan', 'fail')
  const other = await post()
  assert.deepEqual([other.status, other.body.data.decision], [201, 'pending'])
})

test('an expired gate is opened anew', async () => {
  await demand()
  const gate = await open()
  api.clock.advance(12 * 3_600_000)
  const again = await post()
  assert.equal(again.status, 201, again.text)
  assert.deepEqual([again.body.data.status, again.body.data.supersedes], ['waiting', gate.gate_id])
  const old = await deploymentOf(gate)
  assert.deepEqual([old.status, old.superseded_by_id], ['expired', again.body.data.deployment_id])
  await report('unit', 'pass')
  assert.equal((await pollGate(api, again.body.data)).body.data.decision, 'approved')
})

test('a gate that ended with its run stays, and so does one that a higher attempt has superseded', async () => {
  await demand()
  const gate = await open()
  const second = await caller.send(
    'POST',
    '/v1/ci/runs',
    { ...ownRun(run.claims), commit_sha: run.claims.sha, attempt: 2 },
    { ...run.claims, run_attempt: '2' },
  )
  assert.ok(second.status <= 201, second.text)
  await caller.send('POST', '/v1/ci/gates', { run_id: run.id, attempt: 2, environment: 'production' }, run.claims)
  const superseded = await post({ attempt: 1 })
  assert.deepEqual([superseded.status, superseded.body.data.gate_id], [200, gate.gate_id])
  assert.equal(superseded.body.data.status, 'cancelled')
  await startRun()
  const other = await open()
  await caller.send('PATCH', `/v1/ci/runs/${run.id}`, { status: 'failure' }, run.claims)
  await drainQueue(api)
  const ended = await post()
  assert.deepEqual([ended.status, ended.body.data.gate_id, ended.body.data.status], [200, other.gate_id, 'cancelled'])
})

test('a rejected gate is opened anew when evidence came since, and then policies alone never approve it', async () => {
  await demand()
  const gate = await open()
  assert.equal((await answer(gate, 'reject')).status, 200)
  const same = await post()
  assert.deepEqual([same.status, same.body.data.gate_id, same.body.data.decision], [200, gate.gate_id, 'rejected'])
  await report('unit', 'pass')
  const anew = await post()
  assert.deepEqual([anew.status, anew.body.data.decision, anew.body.data.supersedes], [201, 'pending', gate.gate_id])
  assert.match(anew.body.data.note, /rejected before/)
  await report('unit', 'pass')
  assert.equal((await pollGate(api, anew.body.data)).body.data.decision, 'pending')
  api.clock.advance(12 * 3_600_000)
  const later = await post()
  assert.deepEqual([later.status, later.body.data.decision], [201, 'pending'])
  const key = await api.caller({ orgId: caller.orgId, scopes: ['write:deployments'] })
  const byKey = await api.request('POST', `/v1/deployments/${later.body.data.deployment_id}/approve`, {
    key: key.key,
    body: { reason: 'A key does not answer for a person.' },
  })
  assert.equal(byKey.status, 409, byKey.text)
  assert.equal((await answer(later.body.data, 'approve', 'release_manager')).body.data.status, 'approved')
})

test('evidence of a weaker lane opens no rejected gate anew', async () => {
  await demand()
  const gate = await open()
  await answer(gate, 'reject')
  api.clock.advance(1000)
  const weaker = await api.caller({ orgId: caller.orgId })
  const body = { job: { name: 'weak' }, attestations: [{ kind: 'custom', name: 'unit', status: 'pass', data: {} }] }
  const sent = await api.request('POST', `/v1/ci/runs/${run.id}/reports`, { key: weaker.key, body })
  assert.ok(sent.status <= 201, sent.text)
  const again = await post()
  assert.deepEqual([again.status, again.body.data.gate_id], [200, gate.gate_id])
})

test('of a poll and a repeated request in one instant, one reads the approval, and the other a gate that waits', async () => {
  await demand()
  for (let round = 0; round < 8; round++) {
    await startRun()
    const gate = await openUnused()
    await report('integration', 'fail', false)
    const [polled, again] = await Promise.all([pollGate(api, gate), post()])
    const wasUsed = polled.body.data.decision === 'approved'
    assert.deepEqual([again.status, again.body.data.decision], [wasUsed ? 201 : 200, 'pending'])
    assert.equal(again.body.data.supersedes, wasUsed ? gate.gate_id : undefined)
    await drainQueue(api)
  }
})

test('of a poll and red evidence in one instant, in two processes, exactly one wins', async () => {
  const beside = await startTestApi({ beside: api })
  try {
    await demand()
    const seen = new Set<string>()
    for (let round = 0; round < 12; round++) {
      await startRun()
      const gate = await openUnused()
      await report('integration', 'fail', false)
      const decide = () => decideByPolicy(beside.services, { org_id: caller.orgId, id: gate.deployment_id })
      const poll = async () => (await pollGate(api, gate)).body.data.decision
      const both = round % 2 === 0 ? [poll(), decide()] : [decide(), poll()]
      const [decision] = (await Promise.all(both)).filter((text) => typeof text === 'string')
      const { status } = await deploymentOf(gate)
      assert.deepEqual(
        [decision, status],
        decision === 'approved' ? ['approved', 'approved'] : ['pending', 'pending_approval'],
      )
      seen.add(status)
      await drainQueue(api)
    }
    assert.ok(seen.size >= 1)
  } finally {
    await beside.close()
  }
})
