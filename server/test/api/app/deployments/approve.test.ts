import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { upsertProviderAccount } from '../../../../src/access/members/member.store.ts'
import type { BuiltInRoleId } from '../../../../src/access/role.ts'
import { answerDeployment } from '../../../../src/deployments/approvals/answer-deployment.ts'
import type { Plan } from '../../../../src/organizations/plan.ts'
import { MINUTE_MS } from '../../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import {
  answer,
  answerWithKey,
  auditOf,
  configureGate,
  getDeployment,
  openGate,
  pollGate,
  REASON,
} from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, ownCredential, type Person, requestAs } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'
import { newRunClaims, ownRun, startTokenCaller } from '../../../support/token-caller.ts'

const BLOCKING = `
name: Tests
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: tests
    name: Tests have passed
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any
    reason: No test results were reported.`

let api: TestApi
let beside: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  beside = await startTestApi({ beside: api })
})
after(async () => {
  await beside?.close()
  await api?.close()
})
beforeEach(async () => {
  caller = await api.caller()
})

async function opened(gate: Parameters<typeof configureGate>[2] = {}): Promise<Json> {
  await configureGate(api, caller, gate)
  return openGate(api, caller, { run_id: (await createRun(api, caller)).id })
}

const person = (role: BuiltInRoleId = 'release_manager', name?: string) =>
  createPerson(api, { ...caller, role, ...(name && { name }) })

function answerAs(who: Person, id: string, verb: 'approve' | 'reject', body?: unknown, on = api): Promise<Answer> {
  return requestAs(on, who, 'POST', `/deployments/${id}/${verb}`, body)
}

const another = () => api.caller({ orgId: caller.orgId })
const approver = () => api.caller({ orgId: caller.orgId, scopes: ['write:deployments'] })

test('200 without a body: the approval names the person, on the deployment, on the gate and in the audit log', async () => {
  const gate = await opened({ allowApiKeys: false })
  const ada = await person('release_manager', 'Ada Lovelace')
  const { status, body } = await answerAs(ada, gate.deployment_id, 'approve')
  assert.deepEqual([status, body], [200, { data: { approved: true, status: 'approved' } }])
  const { approvals, override } = await getDeployment(api, caller, gate.deployment_id)
  assert.equal(override, null)
  assert.deepEqual(approvals, [
    {
      user_id: ada.userId,
      email: ada.email,
      display_name: 'Ada Lovelace',
      decision: 'approved',
      principal: 'user',
      gates: ['customRule'],
      provider_account: null,
      at: api.clock.now().toISOString(),
      note: null,
      self_approved: false,
    },
  ])
  assert.equal((await pollGate(api, gate)).body.data.decided_by, 'user:Ada Lovelace')
  const [entry, ...others] = await auditOf(api, caller, gate.deployment_id)
  assert.deepEqual(others, [])
  const { principal_type, principal_id, principal_name, action, reason } = entry as Json
  const audited = [principal_type, principal_id, principal_name, action, reason]
  assert.deepEqual(audited, ['user', ada.userId, 'Ada Lovelace', 'deployment.approve', null])
})

test('200 for a rejection with a comment, which is the note', async () => {
  const gate = await opened()
  const given = await answerAs(await person(), gate.deployment_id, 'reject', { comment: ' Not on a Friday. ' })
  assert.deepEqual(given.body, { data: { rejected: true, status: 'rejected' } })
  const [approval] = (await getDeployment(api, caller, gate.deployment_id)).approvals
  assert.deepEqual([approval.decision, approval.note], ['rejected', 'Not on a Friday.'])
})

test('400 reason_required for a reason of a person that is too short or too long', async () => {
  const { deployment_id } = await opened()
  const ada = await person()
  for (const reason of ['123456789', 'r'.repeat(501)])
    assertError(await answerAs(ada, deployment_id, 'approve', { reason }), 400, 'reason_required')
  assert.equal((await answerAs(ada, deployment_id, 'approve', { reason: '  ' })).status, 200)
})

for (const [role, verb, permission] of [
  ['viewer', 'approve', 'answer_deployment_gates'],
  ['developer', 'reject', 'answer_deployment_gates'],
  ['security', 'approve', 'answer_deployment_gates'],
  ['security', 'reject', 'answer_deployment_gates'],
] as const) {
  test(`403 insufficient_permission if the role ${role} tries to ${verb} where no policy blocks`, async () => {
    const { deployment_id } = await opened()
    const refused = await answerAs(await person(role), deployment_id, verb)
    assertError(refused, 403, 'insufficient_permission')
    assert.equal(refused.body.error.details.requiredPermission, permission)
    assert.deepEqual((await getDeployment(api, caller, deployment_id)).approvals, [])
  })
}

test('a blocking policy is overridden by the permissions to answer and to override, with a reason', async () => {
  await apply(api, caller, BLOCKING)
  const { deployment_id } = await opened()
  const refused = await answerAs(await person('developer'), deployment_id, 'approve', { reason: REASON })
  assertError(refused, 403, 'insufficient_permission')
  const grace = await person('org_admin', 'Grace Hopper')
  assertError(await answerAs(grace, deployment_id, 'approve', { comment: 'Go' }), 400, 'reason_required')
  assert.equal((await answerAs(grace, deployment_id, 'approve', { reason: REASON })).body.data.status, 'approved')
  const { override } = await getDeployment(api, caller, deployment_id)
  const { user_id, email, display_name, reason, self_override } = override
  const recorded = [user_id, email, display_name, reason, self_override]
  assert.deepEqual(recorded, [grace.userId, grace.email, 'Grace Hopper', REASON, false])
  const audited = (await auditOf(api, caller, deployment_id)).map((entry) => [entry.action, entry.principal_id]).sort()
  assert.deepEqual(audited, [
    ['deployment.approve', grace.userId],
    ['deployment.override', grace.userId],
  ])
})

test('a person who may not override can reject what a policy blocks', async () => {
  await apply(api, caller, BLOCKING)
  const { deployment_id } = await opened()
  assert.equal((await answerAs(await person(), deployment_id, 'reject')).body.data.status, 'rejected')
})

test('403 fresh_sign_in_required 15 minutes after the sign-in', async () => {
  const { deployment_id } = await opened()
  const ada = await person()
  api.clock.advance(15 * MINUTE_MS + 1)
  for (const verb of ['approve', 'reject'] as const)
    assertError(await answerAs(ada, deployment_id, verb), 403, 'fresh_sign_in_required')
})

test('404 for a deployment of another organization', async () => {
  const { deployment_id } = await opened()
  const stranger = await createPerson(api, await api.caller())
  assertError(await answerAs(stranger, deployment_id, 'approve'), 404, 'not_found')
})

test('the quorum counts people: twice the same person is 409 already_decided', async () => {
  const gate = await opened({ requiredApprovals: 2 })
  const ada = await person()
  assert.equal((await answerAs(ada, gate.deployment_id, 'approve')).body.data.status, 'pending_approval')
  assertError(await answerAs(ada, gate.deployment_id, 'approve'), 409, 'already_decided')
  assertError(await answerAs(ada, gate.deployment_id, 'reject'), 409, 'already_decided')
  assert.equal((await answerAs(await person(), gate.deployment_id, 'approve')).body.data.status, 'approved')
})

test('a person and the API keys that they created count once', async () => {
  const { deployment_id } = await opened({ requiredApprovals: 2 })
  const ada = await person()
  const keys = [await approver(), await approver()] as const
  for (const key of keys) await ownCredential(api, ada, key.keyId)
  assert.equal((await answer(api, keys[0], deployment_id, 'approve')).status, 200)
  assertError(await answer(api, keys[1], deployment_id, 'approve'), 409, 'already_decided')
  assertError(await answerAs(ada, deployment_id, 'approve'), 409, 'already_decided')
  assert.equal((await answer(api, await approver(), deployment_id, 'approve')).body.data.status, 'approved')
})

test('a person whose key has approved a gate for keys can approve the gate that only people answer', async () => {
  await configureGate(api, caller, { name: 'People', allowApiKeys: false })
  const { deployment_id } = await opened({ name: 'Keys' })
  const ada = await person()
  const key = await approver()
  await ownCredential(api, ada, key.keyId)
  assert.equal((await answer(api, key, deployment_id, 'approve')).body.data.status, 'pending_approval')
  assert.equal((await answerAs(ada, deployment_id, 'approve')).body.data.status, 'approved')
})

test('the person whose key reported the run approves only where the gate allows run creators', async () => {
  const ada = await person()
  await ownCredential(api, ada, caller.keyId)
  const strict = await opened({ allowRunCreator: false })
  assertError(await answerAs(ada, strict.deployment_id, 'approve'), 409, 'run_creator_refused')
  const key = await approver()
  await ownCredential(api, ada, key.keyId)
  assertError(await answer(api, key, strict.deployment_id, 'approve'), 409, 'run_creator_refused')
  assert.equal((await answerAs(await person(), strict.deployment_id, 'approve')).body.data.status, 'approved')
})

test('the person whose key opened the gate of a run of another key is refused as well', async () => {
  await configureGate(api, caller, { allowRunCreator: false })
  const run_id = (await createRun(api, caller)).id
  const opener = await another()
  const ada = await person()
  await ownCredential(api, ada, opener.keyId)
  const { deployment_id } = await openGate(api, opener, { run_id })
  assertError(await answerAs(ada, deployment_id, 'approve'), 409, 'run_creator_refused')
  assertError(await answerWithKey(api, opener, deployment_id, 'approve'), 409, 'run_creator_refused')
})

test('the person who opened the deployment can reject it', async () => {
  const ada = await person()
  await ownCredential(api, ada, caller.keyId)
  const { deployment_id } = await opened({ allowRunCreator: false })
  assert.equal((await answerAs(ada, deployment_id, 'reject')).body.data.status, 'rejected')
})

test('self_override is true if the person created the key that reported the run', async () => {
  await apply(api, caller, BLOCKING)
  const admin = await person('org_admin')
  await ownCredential(api, admin, caller.keyId)
  const { deployment_id } = await opened()
  await answerAs(admin, deployment_id, 'approve', { reason: REASON })
  assert.equal((await getDeployment(api, caller, deployment_id)).override.self_override, true)
})

test('of ten people who answer at the same time in two processes, exactly the required number counts', async () => {
  const gate = await opened({ requiredApprovals: 3 })
  const people = await Promise.all(Array.from({ length: 10 }, () => person()))
  const answers = await Promise.all(
    people.flatMap((who, at) => [
      answerAs(who, gate.deployment_id, 'approve', {}, at % 2 === 0 ? api : beside),
      answerAs(who, gate.deployment_id, 'approve', {}, at % 2 === 0 ? beside : api),
    ]),
  )
  const given = answers.filter(({ status }) => status === 200)
  assert.deepEqual(given.map(({ body }) => body.data.status).sort(), [
    'approved',
    'pending_approval',
    'pending_approval',
  ])
  for (const refused of answers.filter(({ status }) => status !== 200)) assertError(refused, 409, 'already_decided')
  const { approvals } = await getDeployment(api, caller, gate.deployment_id)
  assert.equal(new Set(approvals.map(({ user_id }: Json) => user_id)).size, 3)
  assert.equal(approvals.length, 3)
})

test('409 run_finished for a run that ended without success', async () => {
  await configureGate(api, caller)
  const run = await createRun(api, caller)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  await patchRun(api, caller, run.id, { status: 'failure' })
  assertError(await answerAs(await person(), deployment_id, 'approve'), 409, 'run_finished')
})

test('403 insufficient_permission for a person who was disabled or lost the role after the request arrived', async () => {
  const { deployment_id } = await opened()
  const ada = await person()
  const permissions = ['answer_deployment_gates'] as const
  const credential = { type: 'user', id: ada.userId, name: ada.name, email: ada.email, permissions } as const
  const organization = { id: caller.orgId, slug: caller.slug, name: caller.slug, plan: 'enterprise' }
  const plan = api.services.plans.get('enterprise') as Plan
  const actor = { org_id: caller.orgId, organization, plan, credential }
  const { sql } = api.services
  const refuse = () =>
    assert.rejects(answerDeployment(api.services, actor, deployment_id, { decision: 'approved' }), {
      code: 'insufficient_permission',
    })
  await sql`update members set disabled_at = created_at where user_id = ${ada.userId}`
  await refuse()
  await sql`update members set disabled_at = null, built_in_role = 'viewer' where user_id = ${ada.userId}`
  await refuse()
  assert.deepEqual((await getDeployment(api, caller, deployment_id)).approvals, [])
})

/** A release manager with an account on GitHub. */
async function linked(login: string): Promise<Person> {
  const made = await person()
  const account = { user_id: made.userId, provider: 'github', login }
  await api.services.sql.begin((tx) => upsertProviderAccount(tx, caller.orgId, account, api.clock.now()))
  return made
}

test('a token names who started the run, and its trust who opened the gate', async (t) => {
  const tokens = await startTokenCaller(api)
  t.after(() => tokens.close())
  caller = tokens
  await configureGate(api, tokens, { allowRunCreator: false })
  const claims = newRunClaims({ actor: 'alice' })
  const run = await tokens.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  const body = { run_id: run.body.data.id, environment: 'production' }
  const opened = await tokens.send('POST', '/v1/ci/gates', body, claims)
  assert.equal(opened.status, 201, opened.text)
  const creator = await person()
  await api.services.sql`update oidc_trusts set created_by_user_id = ${creator.userId} where id = ${tokens.trustId}`
  const path = `/deployments/${opened.body.data.deployment_id}/approve`
  for (const opener of [creator, await linked('Alice')])
    assertError(await requestAs(api, opener, 'POST', path, {}), 409, 'run_creator_refused')
  assert.equal((await requestAs(api, await linked('grace'), 'POST', path, {})).body.data.status, 'approved')
  assert.deepEqual((await getDeployment(api, tokens, opened.body.data.deployment_id)).approvals[0].provider_account, {
    provider: 'github',
    login: 'grace',
  })
})
