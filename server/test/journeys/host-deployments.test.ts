import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { HostUnavailable } from '../../src/codehosts/code-host.ts'
import type { HostDeployment, HostDeploymentState } from '../../src/codehosts/host-deployment.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { listUncovered } from '../../src/deployments/gates/required-gate.store.ts'
import { publish } from '../../src/platform/queue/event.ts'
import { repositoryRenamed } from '../../src/repositories/repository.events.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { answer, auditOf, configureGate, getDeployment } from '../support/gates.ts'
import {
  applyEvents,
  CALLBACK,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostReview,
  hostStatus,
  minute,
  REVIEWED,
} from '../support/host-deployments.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { drainQueue } from '../support/queue.ts'

const ID = 'gh_deployment_501'
const DEPLOYMENT = { kind: 'deployment', data: hostDeployment() } as const
const WAITING = status('waiting', 1)
const IN_PROGRESS = status('in_progress', 5)
const SUCCESS = status('success', 6)
const ASKED = { kind: 'gate_request', data: gateRequest() } as const

function status(state: HostDeploymentState, minutes: number, deployment?: HostDeployment): HostEvent {
  return { kind: 'deployment_status', data: hostStatus(state, minute(minutes), deployment) }
}

const host = fakeCodeHost()
let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
  host.answers.readEnvironment = async () => hostEnvironment()
  host.answers.listDeploymentReviews = async () => []
  host.answers.listGateRequests = async () => []
})

async function apply(...events: HostEvent[]): Promise<void> {
  await applyEvents(api, source, events)
  await drainQueue(api)
}

const show = (id = ID) => getDeployment(api, caller, id)

async function bypasses(): Promise<Json[]> {
  return (await auditOf(api, caller, ID)).filter(({ action }) => action === 'deployment.bypass')
}

test('a deployment of a run shows all fields of the deployment, its run, its environment and its statuses', async () => {
  host.answers.readEnvironment = async () =>
    hostEnvironment({
      rule_types: ['wait_timer', 'required_reviewers', 'customRule', 'branch_policy'],
      reviewers: ['grace'],
      reviewer_teams: ['release'],
      custom_rules: [
        { app_id: '1', slug: 'shiplock', is_own: true },
        { app_id: '2', slug: 'other', is_own: false },
      ],
    })
  const run = hostRun({ ref: 'refs/tags/v1.2', release_name: 'Spring', updated_at: minute(7) })
  await apply({ kind: 'run', data: run }, DEPLOYMENT, WAITING, ASKED)
  await apply({ kind: 'deployment_review', data: hostReview('approved') })
  await apply(IN_PROGRESS, SUCCESS)
  const deployment = await show()
  const { approvals, created_at, updated_at, org_id, bypass, ...shown } = deployment
  assert.deepEqual([approvals, org_id, created_at], [[], caller.orgId, minute(0).toISOString()])
  assert.ok(updated_at && bypass)
  assert.deepEqual(shown, {
    id: ID,
    repository: 'shop',
    repository_full_name: 'acme/shop',
    environment: 'production',
    status: 'success',
    workflow_name: 'CI',
    workflow_path: '.github/workflows/ci.yml',
    provider: 'github',
    github_run_id: 9001,
    branch: null,
    commit_sha: 'a'.repeat(40),
    commit_message: 'Fix the cart',
    release_name: 'Spring',
    author: 'ada',
    author_avatar_url: 'https://github.com/ada.png',
    version: 'Spring',
    required_reviewers: ['grace'],
    required_reviewer_teams: ['release'],
    pipeline_run_id: 'gh_run_9001',
    deployed_at: minute(6).toISOString(),
    rollback_at: null,
    self_approved: false,
    callback_url: CALLBACK,
    html_url: 'https://github.com/acme/shop/actions/runs/9001',
    job_id: '77',
    environment_url: 'https://shop.example',
    protection_rule_type: 'required_reviewers',
    protection_rule_types: ['required_reviewers', 'wait_timer', 'branch_policy', 'customRule'],
    gated: true,
    reviewers_state: 'approved',
    custom_rule_state: 'pending',
    custom_rule_awaiting: null,
    awaiting: [],
    attempt: 1,
    previous_attempt_id: null,
    superseded_by_id: null,
    reviews: [
      {
        reviewer: 'grace',
        avatar_url: 'https://github.com/grace.png',
        state: 'approved',
        comment: 'Looks good',
        reviewed_at: minute(3).toISOString(),
      },
    ],
    external_custom_rules: [{ app_id: '2', slug: 'other' }],
    override: null,
    policy_evaluation: null,
    live: { since: minute(6).toISOString(), slot: '.github/workflows/ci.yml', trust: 'verified', stale: false },
    exposure: 'unknown',
  })
})

test('a deployment without a run is not gated, and its status follows the host', async () => {
  const alone = hostDeployment({ run: null, ref: 'a'.repeat(40) })
  await apply({ kind: 'deployment', data: alone })
  assert.equal((await show()).status, 'in_progress')
  const followed = [
    ['waiting', 'in_progress'],
    ['in_progress', 'in_progress'],
    ['failure', 'failure'],
    ['success', 'success'],
    ['inactive', 'success'],
  ] as const
  for (const [at, [state, shown]] of followed.entries()) {
    await apply(status(state, at, alone))
    assert.equal((await show()).status, shown, state)
  }
  const { gated, pipeline_run_id, github_run_id, branch, attempt, deployed_at } = await show()
  assert.deepEqual([gated, pipeline_run_id, github_run_id, branch, attempt], [false, null, null, null, 1])
  assert.equal(deployed_at, minute(3).toISOString())
})

test('409 host_reports_status for a status of a deployment of the host, which stays as the host says', async () => {
  await apply(DEPLOYMENT, IN_PROGRESS)
  const by = await api.caller({ orgId: caller.orgId, scopes: ['write:deployments'] })
  for (const said of ['success', 'failure', 'cancelled', 'in_progress']) {
    const body = { status: said }
    const answered = await api.request('PATCH', `/v1/deployments/${ID}`, { key: by.key, body })
    assertError(answered, 409, 'host_reports_status')
  }
  assert.equal((await show()).status, 'in_progress')
})

test('a waiting deployment whose environment has only a timer or the rule of another App waits for the host', async () => {
  host.answers.readEnvironment = async () => hostEnvironment({ rule_types: ['wait_timer'] })
  await apply(DEPLOYMENT, WAITING)
  assert.equal((await show()).status, 'pending_approval')
  await apply(IN_PROGRESS)
  const { status, bypass, reviewers_state } = await show()
  assert.deepEqual([status, bypass, reviewers_state], ['in_progress', null, null])
})

const OWN = { app_id: '1', slug: 'shiplock', is_own: true }
const OTHER = { app_id: '2', slug: 'other', is_own: false }
const RULED = (...custom_rules: (typeof OWN)[]) => hostEnvironment({ rule_types: ['customRule'], custom_rules })

async function decisionText(): Promise<string> {
  const [row] = await api.services.sql<{ text: string }[]>`
    select action ->> 'text' as text
    from codehost_calls
    where org_id = ${caller.orgId}
      and action ->> 'type' = 'decision'`
  return row?.text ?? ''
}

test('after our approval a deployment waits for the rule of another App, until the host lets it go on', async () => {
  host.answers.readEnvironment = async () => RULED(OWN, OTHER)
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED)
  assert.deepEqual((await show()).awaiting, ['customRule', 'external_custom_rules'])
  const approved = await answer(api, caller, ID, 'approve')
  assert.deepEqual(approved.body.data, { approved: true, status: 'pending_approval' })
  const { status: shown, custom_rule_state, custom_rule_awaiting, awaiting, external_custom_rules } = await show()
  assert.deepEqual([shown, custom_rule_state, custom_rule_awaiting], ['pending_approval', 'approved', null])
  assert.deepEqual([awaiting, external_custom_rules], [['external_custom_rules'], [{ app_id: '2', slug: 'other' }]])
  assert.match(await decisionText(), /The deployment still waits for the rules of other Apps\./)
  const again = await answer(api, caller, ID, 'approve')
  assertError(again, 409, 'already_decided')
  assert.match(again.body.error.message, /waits for the rules of other Apps/)
  await apply(IN_PROGRESS)
  const gone = await show()
  assert.deepEqual([gone.status, gone.awaiting, gone.bypass], ['in_progress', [], null])
})

test('a deployment is not approved before the rules of its environment and its reviewers were read', async () => {
  let isDown = true
  host.answers.readEnvironment = async () => {
    if (isDown) throw new HostUnavailable('GitHub does not answer')
    return hostEnvironment()
  }
  await configureGate(api, caller)
  await applyEvents(api, source, [DEPLOYMENT, WAITING, ASKED])
  const { body } = await answer(api, caller, ID, 'approve')
  assert.equal(body.data.status, 'pending_approval')
  assert.deepEqual((await show()).awaiting, ['protection_rules'])
  isDown = false
  await drainQueue(api)
  assert.deepEqual([(await show()).status, (await show()).awaiting], ['approved', []])
  isDown = true
  host.answers.readEnvironment = async () => REVIEWED
  const reviewed = hostDeployment({ id: '502', run: { id: '9002', attempt: 1 } })
  const request = gateRequest({ deployment: reviewed, run: { id: '9002', attempt: null } })
  await apply({ kind: 'deployment', data: reviewed }, status('waiting', 1, reviewed), {
    kind: 'gate_request',
    data: request,
  })
  const review = hostReview('approved', { run: { id: '9002', attempt: 1 } })
  await apply({ kind: 'deployment_review', data: review })
  assert.deepEqual([(await show('gh_deployment_502')).awaiting], [['customRule']])
  await answer(api, caller, 'gh_deployment_502', 'approve')
  assert.equal((await show('gh_deployment_502')).status, 'approved')
})

test('a lost request of our rule is found with the next event, and until then no answer says that nothing is gated', async () => {
  let asked: HostDeployment[] = []
  let requests: ReturnType<typeof gateRequest>[] = []
  host.answers.readEnvironment = async () => RULED(OWN)
  host.answers.listGateRequests = async (deployment) => {
    asked = [...asked, deployment]
    return requests
  }
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING)
  const { status: shown, gated, awaiting, custom_rule_state } = await show()
  assert.deepEqual([shown, gated, awaiting, custom_rule_state], ['pending_approval', true, ['customRule'], null])
  const refused = await answer(api, caller, ID, 'approve')
  assertError(refused, 409, 'not_asked')
  assert.deepEqual(refused.body.error.details.awaiting, ['customRule'])
  requests = [gateRequest()]
  await apply({ kind: 'run', data: hostRun({ status: 'queued', updated_at: minute(2) }) })
  assert.deepEqual([(await show()).custom_rule_state, (await show()).callback_url], ['pending', CALLBACK])
  assert.equal((await answer(api, caller, ID, 'approve')).body.data.status, 'approved')
  const count = asked.length
  await apply(ASKED, { kind: 'run', data: hostRun({ updated_at: minute(3) }) })
  assert.equal(asked.length, count)
})

test('an environment that cannot be read costs only its own fields, and the waiting run names its reviewers', async () => {
  host.answers.readEnvironment = async () => null
  host.answers.listPendingDeployments = async () => []
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED)
  const { status: shown, protection_rule_types } = await show()
  assert.deepEqual([shown, protection_rule_types], ['pending_approval', ['customRule']])
  assert.equal((await answer(api, caller, ID, 'approve')).status, 200)
  host.answers.listPendingDeployments = async () => [
    { environment: 'production', reviewers: ['grace'], reviewer_teams: ['release'] },
  ]
  const next = hostDeployment({ id: '502', run: { id: '9002', attempt: 1 } })
  await apply({ kind: 'deployment', data: next }, status('waiting', 1, next))
  const { reviewers_state, required_reviewers, required_reviewer_teams } = await show('gh_deployment_502')
  assert.deepEqual([reviewers_state, required_reviewers, required_reviewer_teams], ['pending', ['grace'], ['release']])
})

test('the environment is read once for its deployments, and again when one of them waits', async () => {
  let reads = 0
  host.answers.readEnvironment = async () => {
    reads += 1
    return hostEnvironment()
  }
  for (const id of ['1', '2', '3']) await apply({ kind: 'deployment', data: hostDeployment({ id }) })
  assert.equal(reads, 1)
  await apply(DEPLOYMENT, WAITING)
  assert.equal(reads, 2)
  await apply(WAITING)
  assert.equal(reads, 2)
})

test('a request that names no deployment is for the deployment of its run and environment, in either order', async () => {
  const unnamed = { kind: 'gate_request', data: gateRequest({ deployment: null }) } as const
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, unnamed)
  assert.equal((await show()).custom_rule_state, 'pending')
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
  await configureGate(api, caller)
  await apply(unnamed, DEPLOYMENT, WAITING)
  await apply({ kind: 'deployment', data: hostDeployment({ id: '502', environment: 'staging' }) })
  assert.equal((await show()).custom_rule_state, 'pending')
  assert.equal((await show('gh_deployment_502')).custom_rule_state, null)
  assert.equal((await answer(api, caller, ID, 'approve')).status, 200)
})

test('the gates that cover the branch of the run are required, also if the run arrives last', async () => {
  await configureGate(api, caller, { name: 'Main', branch: 'main' })
  await configureGate(api, caller, { name: 'Release', branch: 'release/*', requiredApprovals: 2 })
  // The gates are older than the deployment.
  await api.services.sql`update configured_gates set updated_at = ${minute(-1)} where org_id = ${caller.orgId}`
  await apply(DEPLOYMENT, WAITING, ASKED, { kind: 'run', data: hostRun({ ref: 'refs/heads/release/1' }) })
  const { branch } = await show()
  assert.equal(branch, 'release/1')
  assert.equal((await answer(api, caller, ID, 'approve')).body.data.status, 'pending_approval')
})

test('a bypass of our rule is shown and audited once, and the deployment cannot be answered any more', async () => {
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED)
  await apply(IN_PROGRESS)
  await apply(SUCCESS, IN_PROGRESS, ASKED)
  const { status, custom_rule_state, custom_rule_awaiting, bypass } = await show()
  assert.deepEqual([status, custom_rule_state, custom_rule_awaiting], ['success', 'pending', null])
  const expected = { at: minute(5).toISOString(), from: 'pending_approval', to: 'in_progress', actor: 'octo-bot' }
  assert.deepEqual(bypass, { ...expected, gates: ['customRule'], policies: [] })
  const [entry, ...others] = await bypasses()
  assert.deepEqual(others, [])
  assert.deepEqual(entry?.details, bypass)
  assert.equal((await answer(api, caller, ID, 'approve')).status, 409)
})

const SECOND = 'gh_deployment_502'
const second = hostDeployment({ id: '502' })
const ofSecond = { kind: 'deployment', data: second } as const
const askedSecond = { kind: 'gate_request', data: gateRequest({ deployment: second }) } as const

test('one answer settles two jobs of a run that wait for the same environment', async () => {
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED, ofSecond, status('waiting', 2, second), askedSecond)
  assert.equal((await show(SECOND)).status, 'pending_approval')
  assert.equal((await answer(api, caller, ID, 'approve')).body.data.status, 'approved')
  const { status: shown, custom_rule_state } = await show(SECOND)
  assert.deepEqual([shown, custom_rule_state], ['approved', 'approved'])
  await apply(IN_PROGRESS, status('in_progress', 5, second), status('success', 6, second))
  const { status: after, bypass } = await show(SECOND)
  assert.deepEqual([after, bypass, (await show()).bypass], ['success', null, null])
  const entries = (await auditOf(api, caller, SECOND)).map(({ action, principal_type }) => [action, principal_type])
  assert.deepEqual(entries, [['deployment.approve', 'system']])
})

test('a job that asks after the answer is asked about anew, and is no bypass if the host goes on', async () => {
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED)
  await answer(api, caller, ID, 'approve')
  await apply(ofSecond, status('waiting', 4, second), askedSecond)
  assert.equal((await show(SECOND)).status, 'pending_approval')
  await apply(status('in_progress', 5, second))
  const { status: shown, bypass, custom_rule_state } = await show(SECOND)
  assert.deepEqual([shown, bypass, custom_rule_state], ['in_progress', null, 'approved'])
})

test('a host that asks for each job goes on with an answer to its run, attempt and environment: no bypass', async () => {
  await configureGate(api, caller)
  const apart = gateRequest({ deployment: second, callback_url: `${CALLBACK}/502` })
  await apply(DEPLOYMENT, WAITING, ASKED, ofSecond, status('waiting', 2, second), { kind: 'gate_request', data: apart })
  await answer(api, caller, ID, 'approve')
  assert.equal((await show(SECOND)).status, 'pending_approval')
  await apply(status('in_progress', 5, second), status('success', 6, second))
  const { status: shown, bypass } = await show(SECOND)
  assert.deepEqual([shown, bypass], ['success', null])
})

test('a success supersedes and rolls back those of its environment in any spelling, where the host has no case', async () => {
  const run = (id: string) => ({ id, attempt: 1 })
  const place = (id: string, environment: string, sha: string, at: number) =>
    hostDeployment({ id, environment, run: run(`9${id}`), commit_sha: sha.repeat(40), created_at: minute(at) })
  const succeed = async (deployment: HostDeployment, at: number) =>
    apply(
      { kind: 'deployment', data: deployment },
      status('in_progress', at, deployment),
      status('success', at + 1, deployment),
    )
  await succeed(place('601', 'production', 'a', 10), 11)
  await succeed(place('602', 'Production', 'b', 20), 21)
  await succeed(place('603', 'PRODUCTION', 'a', 30), 31)
  const [first, next] = [await show('gh_deployment_601'), await show('gh_deployment_602')]
  assert.deepEqual([first.status, first.superseded_by_id], ['success', 'gh_deployment_602'])
  assert.deepEqual([next.status, next.superseded_by_id], ['rolled_back', 'gh_deployment_603'])
})

test('a bypass stays one, although another job is approved after it', async () => {
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED, ofSecond, status('waiting', 2, second), askedSecond)
  await apply(IN_PROGRESS)
  await answer(api, caller, SECOND, 'approve')
  await apply(SUCCESS)
  assert.deepEqual((await show()).bypass.gates, ['customRule'])
  assert.equal((await bypasses()).length, 1)
})

test('a host that has no case in environments asks and answers in any spelling; gates that differ by case both cover', async () => {
  await configureGate(api, caller, { environment: 'Production' })
  await configureGate(api, caller, { name: 'other', environment: 'PROD*' })
  const asked = gateRequest({ deployment: null, environment: 'PRODUCTION' })
  await apply(DEPLOYMENT, WAITING, { kind: 'gate_request', data: asked })
  const { environment, custom_rule_state } = await show()
  assert.deepEqual([environment, custom_rule_state], ['production', 'pending'])
  const gates = await api.services.sql`select name from required_gates where org_id = ${caller.orgId} order by name`
  assert.deepEqual(
    gates.map(({ name }) => name),
    ['Production', 'other'],
  )
  const rejected = hostReview('rejected', { environments: ['pRoduction'] })
  await apply({ kind: 'deployment_review', data: rejected })
  assert.equal((await show()).status, 'rejected')
  const named = async (name: string) =>
    (await api.request('GET', `/v1/deployments?environment=${name}`, { key: caller.key })).body.data.length
  assert.deepEqual([await named('production'), await named('Production')], [1, 0])
})

test('the answer to another environment or another attempt settles nothing', async () => {
  await configureGate(api, caller, { environment: '*' })
  const staging = hostDeployment({ id: '503', environment: 'staging' })
  const request = gateRequest({ deployment: staging, environment: 'staging' })
  await apply(
    DEPLOYMENT,
    WAITING,
    ASKED,
    { kind: 'deployment', data: staging },
    { kind: 'gate_request', data: request },
  )
  await answer(api, caller, ID, 'approve')
  assert.equal((await show('gh_deployment_503')).status, 'pending_approval')
})

test('a deployment that goes on after our rejection stays rejected, with the bypass', async () => {
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED)
  await answer(api, caller, ID, 'reject')
  await apply(status('failure', 3))
  assert.equal((await show()).bypass, null)
  await apply(IN_PROGRESS, SUCCESS)
  const { status: shown, bypass } = await show()
  assert.equal(shown, 'rejected')
  assert.deepEqual([bypass.from, bypass.to, bypass.gates], ['rejected', 'in_progress', ['customRule']])
})

test('a gate names the host of the repository, also where the API of the host has another address', async () => {
  source = { ...source, host: 'api.acme.ghe.com' }
  await configureGate(api, caller, { repository: 'github.com/acme/shop' })
  await apply(DEPLOYMENT, WAITING, ASKED)
  assert.equal((await answer(api, caller, ID, 'approve')).status, 200)
})

test('required reviewers count as bypassed only after their reviews were read from the host', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  await apply(DEPLOYMENT, WAITING)
  await applyEvents(api, source, [IN_PROGRESS])
  assert.equal((await show()).bypass, null)
  await drainQueue(api)
  assert.deepEqual((await show()).bypass.gates, ['required_reviewers'])
  assert.equal((await bypasses()).length, 1)
})

test('a review whose webhook is late is found on the host, and nothing counts as bypassed', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  host.answers.listDeploymentReviews = async () => [
    hostReview('approved', { run: { id: '9001', attempt: null }, at: minute(1) }),
  ]
  await apply(DEPLOYMENT, WAITING, IN_PROGRESS)
  const { reviewers_state, bypass, reviews } = await show()
  assert.deepEqual([reviewers_state, bypass, reviews.length], ['approved', null, 1])
  await apply({ kind: 'deployment_review', data: hostReview('approved') })
  assert.deepEqual(
    (await show()).reviews.map((review: Json) => review.reviewed_at),
    [minute(3).toISOString()],
  )
})

test('a listed approval of the first attempt does not approve the second one, but a second listed one does', async () => {
  const listed = hostReview('approved', { run: { id: '9001', attempt: null } })
  const again = hostDeployment({ run: { id: '9001', attempt: 2 } })
  const events: HostEvent[] = [
    { kind: 'deployment_review', data: hostReview('approved') },
    { kind: 'deployment', data: again },
    status('waiting', 1, again),
    status('in_progress', 5, again),
  ]
  host.answers.readEnvironment = async () => REVIEWED
  host.answers.listDeploymentReviews = async () => [listed]
  await apply(...events)
  assert.deepEqual((await show()).bypass.gates, ['required_reviewers'])
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
  host.answers.listDeploymentReviews = async () => [listed, listed]
  await apply(...events)
  const { bypass, reviewers_state } = await show()
  assert.deepEqual([bypass, reviewers_state], [null, 'approved'])
})

test('a deployment of the API of the host does not wait for the reviewers of jobs', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  const alone = hostDeployment({ run: null })
  await apply({ kind: 'deployment', data: alone }, status('waiting', 1, alone))
  const { status: shown, gated, reviewers_state } = await show()
  assert.deepEqual([shown, gated, reviewers_state], ['in_progress', false, null])
})

test('a bypass of reviewers and of our rule names both', async () => {
  host.answers.readEnvironment = async () => REVIEWED
  await configureGate(api, caller)
  await apply(DEPLOYMENT, WAITING, ASKED, IN_PROGRESS)
  assert.deepEqual((await show()).bypass.gates, ['customRule', 'required_reviewers'])
  assert.equal((await bypasses()).length, 1)
})

/** A successful deployment of a commit, `minutes` after the first. */
async function deploy(id: string, commit: string, minutes: number, run = id, attempt = 1): Promise<void> {
  const deployment = hostDeployment({
    id,
    commit_sha: commit.repeat(40),
    run: { id: run, attempt },
    created_at: minute(minutes),
    updated_at: minute(minutes),
  })
  await apply({ kind: 'deployment', data: deployment }, status('success', minutes + 1, deployment))
}

const stateOf = async (id: string) => {
  const { status, superseded_by_id, rollback_at } = await show(`gh_deployment_${id}`)
  return [status, superseded_by_id, rollback_at]
}

test('a newer deployment supersedes the older one, which stays successful', async () => {
  await deploy('1', 'a', 0)
  await deploy('2', 'b', 10)
  await apply(
    status('inactive', 11, hostDeployment({ id: '1', commit_sha: 'a'.repeat(40), run: { id: '1', attempt: 1 } })),
  )
  assert.deepEqual(await stateOf('1'), ['success', 'gh_deployment_2', null])
  assert.deepEqual(await stateOf('2'), ['success', null, null])
})

test('a redeploy of an older commit marks the newer deployment as rolled back; going forward again does not', async () => {
  for (const ids of [
    ['1', '2', '3', '4'],
    ['4', '3', '2', '1'],
    ['2', '4', '1', '3'],
  ]) {
    caller = await api.caller()
    source = await insertConnection(api.services.sql, caller.orgId)
    for (const id of ids) await deploy(id, 'abab'[Number(id) - 1] as string, Number(id) * 10)
    assert.deepEqual(await stateOf('1'), ['success', 'gh_deployment_2', null])
    assert.deepEqual(await stateOf('2'), ['rolled_back', 'gh_deployment_3', minute(31).toISOString()])
    assert.deepEqual(await stateOf('3'), ['success', 'gh_deployment_4', null])
    assert.deepEqual(await stateOf('4'), ['success', null, null])
  }
})

test('a deployment of an older run of the same workflow rolls back, also if its runs arrive later', async () => {
  await deploy('1', 'b', 10)
  await deploy('2', 'a', 20)
  assert.deepEqual(await stateOf('1'), ['success', 'gh_deployment_2', null])
  await apply(
    { kind: 'run', data: hostRun({ id: '1', created_at: minute(9) }) },
    { kind: 'run', data: hostRun({ id: '2', created_at: minute(2) }) },
  )
  assert.deepEqual(await stateOf('1'), ['rolled_back', 'gh_deployment_2', minute(21).toISOString()])
})

test('deployments of the attempts of a run refer to each other', async () => {
  await deploy('1', 'a', 0, '9001', 1)
  await deploy('2', 'a', 10, '9001', 2)
  assert.equal((await show('gh_deployment_1')).superseded_by_id, 'gh_deployment_2')
  assert.equal((await show('gh_deployment_2')).previous_attempt_id, 'gh_deployment_1')
})

test('a renamed repository renames its deployments, and an old event does not take the name back', async () => {
  await apply(DEPLOYMENT)
  const { sql } = api.services
  await sql`update repositories set full_name = 'acme/store' where org_id = ${caller.orgId}`
  await publish(sql, repositoryRenamed, { org_id: caller.orgId, provider: 'github', repository_id: '1001' })
  await drainQueue(api)
  await apply(SUCCESS, { kind: 'deployment', data: hostDeployment({ id: '502' }) })
  for (const id of [ID, 'gh_deployment_502']) {
    const { repository, repository_full_name } = await show(id)
    assert.deepEqual([repository, repository_full_name], ['store', 'acme/store'])
  }
})

test('waiting deployments without a gate are listed for the operator', async () => {
  await apply(DEPLOYMENT, WAITING, ASKED)
  const [uncovered, ...others] = await listUncovered(api.services.sql, caller.orgId)
  assert.deepEqual([uncovered?.environment, others], ['production', []])
  await configureGate(api, caller)
  await drainQueue(api)
  assert.equal((await listUncovered(api.services.sql, caller.orgId)).length, 0)
})

test('deployments of different organizations and repositories with the same ids stay apart', async () => {
  const other = await api.caller()
  const otherSource = await insertConnection(
    api.services.sql,
    other.orgId,
    hostRepository({ full_name: 'umbrella/shop' }),
  )
  await apply(DEPLOYMENT, WAITING, ASKED)
  await applyEvents(api, otherSource, [{ kind: 'deployment_review', data: hostReview('rejected') }, DEPLOYMENT])
  await drainQueue(api)
  assert.equal((await show()).status, 'pending_approval')
  assert.equal((await getDeployment(api, other, ID)).repository_full_name, 'umbrella/shop')
})
