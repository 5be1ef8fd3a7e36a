import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { upsertProviderAccount } from '../../../../src/access/members/member.store.ts'
import type { Scope } from '../../../../src/access/scopes.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { sendReport, TESTS } from '../../../support/ci-reports.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import { answerWithKey, configureGate, getDeployment, openGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, ownCredential, type Person, requestAs } from '../../../support/people.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../support/token-caller.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

type GateFields = NonNullable<Parameters<typeof configureGate>[2]>

async function open(gate: GateFields = {}, opener = caller): Promise<string> {
  await configureGate(api, caller, { allowRunCreator: false, ...gate })
  const run = await createRun(api, caller)
  return (await openGate(api, opener, { run_id: run.id })).deployment_id
}

const person = () => createPerson(api, { ...caller, role: 'release_manager' })

/** A key with these scopes, created by a person, or else at the command line. */
async function keyOf(scopes: Scope[], creator?: Person): Promise<Caller> {
  const key = await api.caller({ orgId: caller.orgId, scopes })
  if (creator) await ownCredential(api, creator, key.keyId)
  return key
}

function approveAs(who: Person, id: string, verb = 'approve'): Promise<Answer> {
  return requestAs(api, who, 'POST', `/deployments/${id}/${verb}`, {})
}

test('a key with write:ci answers no gate that was opened, whoever opened it and whatever the gate allows', async () => {
  const id = await open({ allowRunCreator: true })
  const stranger = await keyOf(['write:ci', 'write:deployments'], await person())
  for (const key of [caller, stranger])
    for (const verb of ['approve', 'reject'] as const) {
      const details = assertError(await answerWithKey(api, key, id, verb), 409, 'run_creator_refused')
      assert.deepEqual(details, { reason: 'WRITE_CI' })
    }
  const approver = await keyOf(['write:deployments'])
  assert.equal((await answerWithKey(api, approver, id, 'approve')).body.data.status, 'approved')
  assert.equal((await getDeployment(api, caller, id)).self_approved, false)
})

const WRITES: [what: string, write: (run: Json, writer: Caller) => Promise<unknown>][] = [
  ['reported to the run', (run, writer) => sendReport(api, writer, run.id, { attestations: [TESTS] })],
  ['changed the run', (run, writer) => patchRun(api, writer, run.id, { url: 'https://ci.example/1' })],
  ['repeated the run', (run, writer) => repeatRun(run, writer)],
]

function repeatRun(run: Json, writer: Caller): Promise<Answer> {
  const { ci_system, external_run_id, repository, commit_sha, pipeline_name } = run
  const body = { ci_system, external_run_id, repository, commit_sha, pipeline_name }
  return api.request('POST', '/v1/ci/runs', { key: writer.key, body })
}

for (const [what, write] of WRITES) {
  test(`who ${what} is an opener, in person and with every key`, async () => {
    await configureGate(api, caller, { allowRunCreator: false })
    const run = await createRun(api, caller)
    const ada = await person()
    await write(run, await keyOf(['write:ci'], ada))
    const id = (await openGate(api, caller, { run_id: run.id })).deployment_id
    assertError(await approveAs(ada, id), 409, 'run_creator_refused')
    const other = await keyOf(['write:deployments'], ada)
    for (const verb of ['approve', 'reject'] as const)
      assertError(await answerWithKey(api, other, id, verb), 409, 'run_creator_refused')
    assert.equal((await approveAs(await person(), id)).body.data.status, 'approved')
  })
}

test('allow_run_creator lets who opened the deployment count, which the deployment and its approval say', async () => {
  const ada = await person()
  await ownCredential(api, ada, caller.keyId)
  const id = await open({ allowRunCreator: true })
  assert.equal((await approveAs(ada, id)).body.data.status, 'approved')
  const { self_approved, approvals } = await getDeployment(api, caller, id)
  assert.deepEqual([self_approved, approvals[0].self_approved], [true, true])
})

test('the approval of an opener that does not count leaves self_approved false', async () => {
  const ada = await person()
  await ownCredential(api, ada, caller.keyId)
  await configureGate(api, caller, { name: 'lax', allowRunCreator: true, requiredApprovals: 2 })
  const id = await open({ name: 'strict' })
  assert.equal((await approveAs(ada, id)).body.data.status, 'pending_approval')
  assert.equal((await getDeployment(api, caller, id)).self_approved, false)
  assert.equal((await approveAs(await person(), id)).body.data.status, 'approved')
  assert.equal((await getDeployment(api, caller, id)).self_approved, true)
})

test('keys of the command line are one voter; a key of a person is another', async () => {
  const id = await open({ requiredApprovals: 2 })
  const [first, second] = [await keyOf(['write:deployments']), await keyOf(['write:deployments'])]
  assert.equal((await answerWithKey(api, first, id, 'approve')).body.data.status, 'pending_approval')
  assertError(await answerWithKey(api, second, id, 'approve'), 409, 'already_decided')
  const own = await keyOf(['write:deployments'], await person())
  assert.equal((await answerWithKey(api, own, id, 'approve')).body.data.status, 'approved')
})

test('of simultaneous approvals by keys of the command line, one counts', async () => {
  const id = await open({ requiredApprovals: 2 })
  const keys = await Promise.all(Array.from({ length: 6 }, () => keyOf(['write:deployments'])))
  const answers = await Promise.all(keys.map((key) => answerWithKey(api, key, id, 'approve')))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(5).fill(409)])
  assert.equal((await getDeployment(api, caller, id)).status, 'pending_approval')
})

/** A release manager with an account on GitHub. */
async function linked(login: string): Promise<Person> {
  const made = await person()
  const account = { user_id: made.userId, provider: 'github', login }
  await api.services.sql.begin((tx) => upsertProviderAccount(tx, caller.orgId, account, api.clock.now()))
  return made
}

/** Opens a gate by the token of a job that alice started. */
async function openByToken(tokens: TokenCaller, gate: GateFields): Promise<string> {
  await configureGate(api, tokens, { name: JSON.stringify(gate), allowRunCreator: false, ...gate })
  const claims = newRunClaims({ actor: 'alice' })
  const run = await tokens.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  const body = { run_id: run.body.data.id, environment: gate.environment ?? 'production' }
  return (await tokens.send('POST', '/v1/ci/gates', body, claims)).body.data.deployment_id
}

test('who started the run at the host, or made the trust that opened the gate, does not approve', async (t) => {
  const tokens = await startTokenCaller(api)
  t.after(() => tokens.close())
  caller = tokens
  const strict = await openByToken(tokens, {})
  const creator = await person()
  await api.services.sql`update oidc_trusts set created_by_user_id = ${creator.userId} where id = ${tokens.trustId}`
  const alice = await linked('Alice')
  for (const opener of [alice, creator]) assertError(await approveAs(opener, strict), 409, 'run_creator_refused')
  const lax = await openByToken(tokens, { environment: 'lax', allowRunCreator: true })
  assert.equal((await approveAs(alice, lax)).body.data.status, 'approved')
  assert.equal((await getDeployment(api, tokens, lax)).self_approved, true)
})

test('without a linked account the decision says so, and require_linked_accounts refuses', async (t) => {
  const tokens = await startTokenCaller(api)
  t.after(() => tokens.close())
  caller = tokens
  const [unknown, grace] = [await person(), await linked('grace')]
  const isUnlinked = async (who: Person, id: string) =>
    (await requestAs(api, who, 'GET', `/deployments/${id}/decision`)).body.data.unlinked_account
  const open = await openByToken(tokens, {})
  assert.deepEqual([await isUnlinked(unknown, open), await isUnlinked(grace, open)], [true, false])
  assert.equal((await approveAs(unknown, open)).status, 200)
  const strict = await openByToken(tokens, { environment: 'strict', requireLinkedAccounts: true })
  assertError(await approveAs(unknown, strict), 409, 'linked_account_required')
  assert.equal((await approveAs(grace, strict)).body.data.status, 'approved')
})
