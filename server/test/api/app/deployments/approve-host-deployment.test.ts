import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { upsertProviderAccount } from '../../../../src/access/members/member.store.ts'
import { applyHostRun } from '../../../../src/ci/provider-runs/apply-host-run.ts'
import type { HostEvent, HostSource } from '../../../../src/codehosts/host-event.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { fakeCodeHost } from '../../../support/fake-client.ts'
import { configureGate, getDeployment } from '../../../support/gates.ts'
import {
  applyEvents,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostReview,
  hostStatus,
  minute,
  REVIEWED,
} from '../../../support/host-deployments.ts'
import { hostAccount, hostRun, insertConnection } from '../../../support/host-objects.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { apply } from '../../../support/policies.ts'
import { drainQueue } from '../../../support/queue.ts'

const ID = 'gh_deployment_501'
const WAITING: HostEvent[] = [
  { kind: 'deployment', data: hostDeployment({ creator: hostAccount({ login: 'Octo-Cat' }) }) },
  { kind: 'deployment_status', data: hostStatus('waiting', minute(1)) },
  { kind: 'gate_request', data: gateRequest() },
]

const host = fakeCodeHost({ listDeploymentReviews: async () => [] })
let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  host.answers.readEnvironment = async () => hostEnvironment()
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
})

async function arrive(...events: HostEvent[]): Promise<void> {
  await applyEvents(api, source, events)
  await drainQueue(api)
}

async function person(login?: string): Promise<Person> {
  const made = await createPerson(api, { ...caller, role: 'release_manager' })
  const account = { user_id: made.userId, provider: 'github', login: login ?? '' }
  if (login) await api.services.sql.begin((tx) => upsertProviderAccount(tx, caller.orgId, account, api.clock.now()))
  return made
}

const approve = (who: Person, body: object = {}) => requestAs(api, who, 'POST', `/deployments/${ID}/approve`, body)

async function sentTexts(): Promise<string[]> {
  const rows = await api.services.sql<{ text: string }[]>`
    select action ->> 'text' as text
    from codehost_calls
    where org_id = ${caller.orgId}
    order by created_at, id`
  return rows.map(({ text }) => text)
}

test('a person approves a deployment that no gate covers; the code host receives the decision with their name', async () => {
  await arrive(...WAITING)
  const grace = await person('grace')
  assert.equal((await approve(grace, { comment: 'Released today.' })).body.data.status, 'approved')
  const [approval] = (await getDeployment(api, caller, ID)).approvals
  assert.deepEqual(approval.provider_account, { provider: 'github', login: 'grace' })
  const answers = (await sentTexts()).filter((sent) => sent.startsWith('Approved'))
  assert.equal(answers.length, 1)
  const [text = ''] = answers
  assert.match(
    text,
    /^Approved through Shiplock by \*\*Ada Lovelace \\<\S+@\u200Bexample\.com>\*\*\.\n\n> Released today\./,
  )
})

test('409 run_creator_refused for the person whose linked account created the deployment', async () => {
  await configureGate(api, caller, { requiredApprovals: 2, allowRunCreator: false })
  await arrive(...WAITING)
  const creator = await person('octo-cat')
  assertError(await approve(creator), 409, 'run_creator_refused')
  assert.equal((await approve(await person('grace'))).body.data.status, 'pending_approval')
  assert.equal((await requestAs(api, creator, 'POST', `/deployments/${ID}/reject`, {})).body.data.status, 'rejected')
})

test('an account of the same name on another code host does not refuse the person', async () => {
  await arrive(...WAITING)
  const made = await person()
  const account = { user_id: made.userId, provider: 'gitlab', login: 'octo-cat' }
  await api.services.sql.begin((tx) => upsertProviderAccount(tx, caller.orgId, account, api.clock.now()))
  assert.equal((await approve(made)).status, 200)
  assert.equal((await getDeployment(api, caller, ID)).approvals[0].provider_account, null)
})

test('409 reviewer_gate_requires_human once only the reviewers of the code host are left', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  await configureGate(api, caller)
  await arrive(...WAITING, { kind: 'deployment_review', data: hostReview('requested') })
  assert.equal((await approve(await person())).body.data.status, 'pending_approval')
  const refused = await approve(await person())
  assertError(refused, 409, 'reviewer_gate_requires_human')
  assert.match(refused.body.error.message, /on the code host/)
})

test('a gate that is made while a deployment waits without one lets neither its opener nor policies approve it', async () => {
  await arrive(...WAITING)
  const opener = await person('octo-cat')
  assertError(await approve(opener), 409, 'run_creator_refused')
  await apply(api, caller, "name: always\nmode: enforce\nrules:\n  - rule: r\n    expression: 'true'\n")
  const gate = await configureGate(api, caller, { allowRunCreator: true, policies: ['always'] })
  await drainQueue(api)
  assert.equal((await getDeployment(api, caller, ID)).status, 'pending_approval')
  assertError(await approve(opener), 409, 'run_creator_refused')
  const admin = await createPerson(api, caller)
  const change = { allow_run_creator: true, name: 'again' }
  assert.equal((await requestAs(api, admin, 'PATCH', `/gates/${gate.id}`, change)).status, 200)
  await drainQueue(api)
  assertError(await approve(opener), 409, 'run_creator_refused')
  assert.equal((await approve(await person('grace'))).body.data.status, 'approved')
})

test('409 run_creator_refused for the persons whose accounts started the run and its attempt', async () => {
  await arrive(...WAITING)
  const actor = hostAccount({ login: 'linus' })
  const run = hostRun({ actor, triggering_actor: hostAccount({ id: '9', login: 'margaret' }) })
  await api.services.sql.begin((tx) => applyHostRun(api.services, tx, source, run))
  assertError(await approve(await person('Linus')), 409, 'run_creator_refused')
  assertError(await approve(await person('margaret')), 409, 'run_creator_refused')
  assert.equal((await approve(await person('grace'))).status, 200)
})
