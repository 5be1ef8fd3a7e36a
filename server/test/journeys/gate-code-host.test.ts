import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { postComment, postDecision } from '../../src/deployments/approvals/post-answer.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { FakeCodeHost } from '../support/code-host.ts'
import { answer, auditOf, getDeployment, REASON } from '../support/gates.ts'
import { drainQueue } from '../support/queue.ts'

let host: FakeCodeHost
let api: TestApi
let caller: Caller

before(async () => {
  const forward: FakeCodeHost = new Proxy({} as FakeCodeHost, { get: (_, name) => Reflect.get(host, name).bind(host) })
  api = await startTestApi({ answerHosts: new Map([['github', forward]]) })
})
after(() => api?.close())
beforeEach(async () => {
  host = new FakeCodeHost()
  caller = await api.caller()
})

/** Inserts a deployment of a connected code host. */
async function arrive(fields: Record<string, unknown> = {}): Promise<string> {
  const { sql } = api.services
  const now = api.clock.now()
  await sql`
    insert into deployments ${sql({
      org_id: caller.orgId,
      id: 'dep_1',
      provider: 'github',
      repository: 'api',
      repository_full_name: 'acme/api',
      environment: 'production',
      status: 'pending_approval',
      github_run_id: 12_345_678_901,
      attempt: 1,
      commit_sha: 'a'.repeat(40),
      callback_url: 'https://code.example/callback',
      gated: true,
      created_at: now,
      updated_at: now,
      ...fields,
    })}`
  return 'dep_1'
}

const OWN = { custom_rule_state: 'pending', custom_rule_awaiting: 'manual_decision_required' }
const REVIEWERS = { reviewers_state: 'pending', required_reviewers: ['ada'] }

for (const [verb, decision, word] of [
  ['approve', 'approved', 'Approved'],
  ['reject', 'rejected', 'Rejected'],
] as const) {
  test(`${verb}: the code host receives the decision and a comment with the key and its reason`, async () => {
    const id = await arrive(OWN)
    const { body } = await answer(api, caller, id, verb, { reason: REASON, comment: 'Line one\n# Line two' })
    assert.equal(body.data.status, decision)
    await drainQueue(api)
    const comment = host.posted.find(({ kind }) => kind === 'comment')
    const told = host.posted.find(({ kind }) => kind === 'decision')
    assert.equal(host.posted.length, 2)
    assert.ok(comment?.kind === 'comment' && told?.kind === 'decision')
    assert.match(comment.text, new RegExp(`^${word} through Shiplock by the API key \\*\\*test key\\*\\*`))
    assert.ok(comment.text.includes(`> ${REASON}\n\n> Line one\n> # Line two`), comment.text)
    assert.equal(told.decision.decision, decision)
    assert.deepEqual(told.deployment, {
      repository: 'acme/api',
      environment: 'production',
      commit_sha: 'a'.repeat(40),
      run_id: 12_345_678_901,
      callback_url: 'https://code.example/callback',
    })
  })
}

test('a failed post is retried; a post whose response was lost has no effect twice', async () => {
  const id = await arrive(OWN)
  await answer(api, caller, id, 'approve')
  const jobs = await api.services.sql`select task_identifier as name from graphile_worker.jobs order by 1`
  assert.deepEqual(
    jobs.map(({ name }) => name),
    [postComment.name, postDecision.name],
  )
  const [row] = await api.services.sql`select id from deployment_answers where org_id = ${caller.orgId}`
  const payload = { org_id: caller.orgId, answer_id: row?.id }
  host.failures = 1
  await assert.rejects(postDecision.run(api.services, payload), /away/)
  host.lostAnswers = 1
  await assert.rejects(postDecision.run(api.services, payload), /lost/)
  await drainQueue(api)
  assert.deepEqual(host.posted.map(({ kind }) => kind).sort(), ['comment', 'decision'])
})

test('a job that runs again after it succeeded does not call the code host', async () => {
  const id = await arrive(OWN)
  await answer(api, caller, id, 'approve')
  await drainQueue(api)
  const { calls } = host
  const [row] = await api.services.sql`select id from deployment_answers where org_id = ${caller.orgId}`
  for (const job of [postComment, postDecision])
    await job.run(api.services, { org_id: caller.orgId, answer_id: row?.id })
  assert.equal(host.calls, calls)
})

test('409 reviewer_gate_requires_human when only reviewers on the code host are required; nothing is posted', async () => {
  const id = await arrive(REVIEWERS)
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answer(api, caller, id, verb), 409, 'reviewer_gate_requires_human')
  await drainQueue(api)
  assert.equal(host.calls, 0)
  assert.deepEqual(await auditOf(api, caller, id), [])
})

for (const [verb, decision] of [
  ['approve', 'approved'],
  ['reject', 'rejected'],
] as const) {
  test(`with both gates a key can ${verb} the service's own rule first; the status stays, and a further key request is refused`, async () => {
    const id = await arrive({ ...OWN, ...REVIEWERS })
    const { status, body } = await answer(api, caller, id, verb)
    assert.deepEqual([status, body.data.status], [200, 'pending_approval'])
    const deployment = await getDeployment(api, caller, id)
    const { custom_rule_state, reviewers_state, approvals } = deployment
    assert.deepEqual([deployment.status, custom_rule_state, reviewers_state], ['pending_approval', decision, 'pending'])
    assert.equal(approvals.length, 1)
    const other = await api.caller({ orgId: caller.orgId })
    for (const key of [caller, other])
      assertError(await answer(api, key, id, 'approve'), 409, 'reviewer_gate_requires_human')
    await drainQueue(api)
    assert.equal(host.posted.length, 2)
  })
}

test('409 already_decided once the reviewers have answered, too', async () => {
  const id = await arrive({
    ...OWN,
    ...REVIEWERS,
    status: 'approved',
    custom_rule_state: 'approved',
    reviewers_state: 'approved',
  })
  assertError(await answer(api, caller, id, 'approve'), 409, 'already_decided')
})

test("409 not_gated for a deployment without the service's own rule", async () => {
  for (const [at, fields] of [{ gated: false }, { gated: false, status: 'success' }, { gated: true }].entries()) {
    caller = await api.caller()
    const id = await arrive({ ...fields, id: 'dep_1', attempt: at + 1 })
    assertError(await answer(api, caller, id, 'approve'), 409, 'not_gated')
  }
})
