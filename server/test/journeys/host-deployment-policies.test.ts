import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { SCOPES } from '../../src/access/scopes.ts'
import type { HostAction } from '../../src/codehosts/code-host.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { decideByPolicy } from '../../src/deployments/decisions/decide-by-policy.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { answer, auditOf, configureGate, getDeployment } from '../support/gates.ts'
import {
  applyEvents,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostStatus,
  minute,
} from '../support/host-deployments.ts'
import { hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'

function policy(branch: string): string {
  return `
name: Branch is ${branch}
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: branch
    name: The branch is deployed
    expression: deployment.branch == "${branch}"
    trust: any
    reason: Another branch is deployed.`
}

const ID = 'gh_deployment_501'
const WAITING: HostEvent[] = [
  { kind: 'deployment', data: hostDeployment() },
  { kind: 'deployment_status', data: hostStatus('waiting', minute(1)) },
  { kind: 'gate_request', data: gateRequest() },
]
const IN_PROGRESS: HostEvent = { kind: 'deployment_status', data: hostStatus('in_progress', minute(5)) }

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
  caller = await api.caller({ scopes: SCOPES.filter((scope) => scope !== 'write:compliance-override') })
  source = await insertConnection(api.services.sql, caller.orgId)
})

async function arrive(...events: HostEvent[]): Promise<void> {
  await applyEvents(api, source, events)
  await drainQueue(api)
}

const show = () => getDeployment(api, caller, ID)

async function sent(): Promise<Extract<HostAction, { text: string }>[]> {
  const rows = await api.services.sql`
    select action
    from codehost_calls
    where org_id = ${caller.orgId}
    order by created_at, id`
  return rows.map(({ action }) => action)
}

test('if the policies that its gate names pass, the deployment is approved and the code host receives the decision with the rules', async () => {
  await apply(api, caller, policy('main'))
  await configureGate(api, caller, { policies: ['Branch is main'] })
  await arrive(...WAITING)
  const { status, policy_evaluation } = await show()
  assert.deepEqual(
    [status, policy_evaluation.decision, policy_evaluation.answered],
    ['approved', 'approve', 'approved'],
  )
  const [action, ...others] = await sent()
  assert.deepEqual(others, [])
  assert.ok(action?.type === 'decision' && action.decision === 'approved')
  assert.match(action.text, /^Approved by Shiplock\.\n\n> Passed: Branch is main\.\n/)
  assert.match(action.text, /- Branch is main: The branch is deployed: pass/)
})

test('policies see the protection rules of the environment, also if these are read after an evaluation', async () => {
  const names = { reviewers: ['grace'], reviewer_teams: ['ops'] }
  host.answers.readEnvironment = async () => hostEnvironment({ rule_types: ['wait_timer', 'customRule'], ...names })
  const rules = 'environment.protection_rules == ["wait_timer", "customRule"]'
  const reviewers = 'environment.required_reviewers == ["grace"] && environment.required_reviewer_teams == ["ops"]'
  await apply(api, caller, policy('main').replace('deployment.branch == "main"', `'${rules} && ${reviewers}'`))
  await configureGate(api, caller, { policies: ['Branch is main'] })
  await applyEvents(api, source, WAITING)
  await decideByPolicy(api.services, { org_id: caller.orgId, id: ID })
  assert.equal((await show()).policy_evaluation.decision, 'block')
  await drainQueue(api)
  // The policies have answered for our rule; the timer of the environment goes on.
  const { policy_evaluation, custom_rule_state, status, awaiting } = await show()
  assert.deepEqual([policy_evaluation.decision, custom_rule_state], ['approve', 'approved'])
  assert.deepEqual([status, awaiting], ['pending_approval', ['wait_timer']])
})

for (const [file, decision] of [
  ['deploy.yml', 'block'],
  ['ci.yml', 'approve'],
]) {
  test(`a policy of the workflow ${file} covers a deployment of any workflow until the run is known`, async () => {
    const bindings = `bindings: { environments: [production], workflows: [${file}] }`
    await apply(api, caller, policy('main'))
    await apply(api, caller, policy('release').replace(/bindings: .*/, bindings))
    await configureGate(api, caller, { policies: ['Branch is main'] })
    await arrive(...WAITING)
    assert.equal((await show()).policy_evaluation.decision, 'block')
    const path = '.github/workflows/deploy.yml'
    await arrive({ kind: 'run', data: hostRun({ workflow: { id: '31', name: 'Deploy', path } }) })
    assert.equal((await show()).policy_evaluation.decision, decision)
  })
}

test('passing policies do not approve a deployment that no gate covers, nor under a gate that comes later', async () => {
  await apply(api, caller, policy('main'))
  await arrive(...WAITING)
  assert.equal((await show()).status, 'pending_approval')
  assert.deepEqual(
    (await sent()).map(({ type }) => type),
    ['comment'],
  )
  await configureGate(api, caller, { policies: ['Branch is main'] })
  await drainQueue(api)
  assert.equal((await show()).status, 'pending_approval')
})

test('a blocking policy keeps the deployment waiting, says why on the host, and requires the override scope', async () => {
  await apply(api, caller, policy('release'))
  await configureGate(api, caller)
  await arrive(...WAITING)
  const [comment, ...others] = await sent()
  assert.deepEqual(others, [])
  assert.match(comment?.text ?? '', /- The policy Branch is release blocks it: Another branch is deployed\./)
  assertError(await answer(api, caller, ID, 'approve'), 403, 'insufficient_scope')
  const full = await api.caller({ orgId: caller.orgId })
  assert.equal((await answer(api, full, ID, 'approve')).body.data.status, 'approved')
  const { override } = await show()
  assert.deepEqual(
    override.policies.map(({ name }: Json) => name),
    ['Branch is release'],
  )
})

test('a bypass names the policies that blocked, and the results of the repository are evaluated again', async () => {
  const { sql } = api.services
  await apply(api, caller, policy('release'))
  await configureGate(api, caller)
  await arrive(...WAITING)
  await sql`delete from compliance_results where org_id = ${caller.orgId}`
  await arrive(IN_PROGRESS)
  assert.deepEqual((await show()).bypass.policies, ['Branch is release'])
  const results = await sql`select repository from compliance_results where org_id = ${caller.orgId}`
  assert.deepEqual(
    results.map(({ repository }) => repository),
    ['github.com/acme/shop'],
  )
})

test('a bypass before our rule was asked names the policies too, once they were evaluated', async () => {
  await apply(api, caller, policy('release'))
  await configureGate(api, caller)
  await arrive(IN_PROGRESS, ...WAITING)
  const { bypass, policy_evaluation } = await show()
  assert.deepEqual([bypass.policies, policy_evaluation.answered], [['Branch is release'], null])
  const actions = (await auditOf(api, caller, ID)).map(({ action }) => action)
  assert.deepEqual(actions, ['deployment.bypass'])
})

/** Services whose next transaction begins after these events. */
function interrupt(events: HostEvent[]): { services: typeof api.services; count: () => number } {
  let transactions = 0
  const sql = new Proxy(api.services.sql, {
    get: (sql, name) => {
      if (name !== 'begin') return Reflect.get(sql, name)
      return async (work: never) => {
        transactions += 1
        await applyEvents(api, source, events)
        return sql.begin(work)
      }
    },
  })
  return { services: { ...api.services, sql }, count: () => transactions }
}

test('a deployment whose workflow changed while its policies were asked is asked about again', async () => {
  await applyEvents(api, source, [...WAITING, { kind: 'run', data: hostRun() }])
  await api.services.sql`delete from jobs where name = 'deployments.decide-by-policy'`
  const { services, count } = interrupt([
    {
      kind: 'run',
      data: hostRun({ workflow: { id: '31', name: 'CI', path: '.github/workflows/b.yml' }, updated_at: minute(6) }),
    },
  ])
  await decideByPolicy(services, { org_id: caller.orgId, id: ID })
  assert.equal(count(), 1)
  await drainQueue(api)
  const [comment, ...others] = await sent()
  assert.deepEqual([comment?.type, others.length], ['comment', 0])
})

test('an evaluation decides nothing if the required gates changed while it ran', async () => {
  await apply(api, caller, policy('main'))
  await configureGate(api, caller, { name: 'Main', branch: 'main' })
  await configureGate(api, caller, { name: 'Release', branch: 'release', policies: ['Branch is main'] })
  await applyEvents(api, source, WAITING)
  // The transaction decides what was evaluated before it.
  const { services, count } = interrupt([{ kind: 'run', data: hostRun({ ref: 'refs/heads/release' }) }])
  await decideByPolicy(services, { org_id: caller.orgId, id: ID })
  assert.equal(count(), 1)
  await drainQueue(api)
  const { status, branch, policy_evaluation } = await show()
  assert.deepEqual([status, branch, policy_evaluation.decision], ['pending_approval', 'release', 'block'])
})
