import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { assignPlan } from '../../../../src/access/manage-access.ts'
import type { HostDeployment, HostDeploymentState } from '../../../../src/codehosts/host-deployment.ts'
import type { HostEvent } from '../../../../src/codehosts/host-event.ts'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import { removeExpired } from '../../../../src/retention/remove-expired.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import { fakeCodeHost } from '../../../support/fake-client.ts'
import { answer, auditOf, configureGate, openGate } from '../../../support/gates.ts'
import { applyEvents, hostDeployment, hostEnvironment, hostStatus, minute } from '../../../support/host-deployments.ts'
import { hostRun, insertConnection } from '../../../support/host-objects.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, requestAs } from '../../../support/people.ts'
import { drainQueue } from '../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../support/token-caller.ts'

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi({
    codeHosts: fakeCodeHost({ listDeploymentReviews: async () => [], readEnvironment: async () => hostEnvironment() })
      .codeHosts,
  })
  caller = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  await configureGate(api, caller, { environment: '*' })
})
after(async () => {
  await caller?.close()
  await api?.close()
})

const listLive = async ({ key }: Pick<Caller, 'key'> = caller, query = ''): Promise<Json[]> => {
  const { status, body } = await api.request('GET', `/v1/deployments?live=true${query}`, { key })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.meta.retention_clamped, false)
  return body.data
}
const liveIds = async (by?: Pick<Caller, 'key'>, query = '') => (await listLive(by, query)).map(({ id }) => id).sort()
const mark = (id: string, body: object, { key }: Pick<Caller, 'key'> = caller) =>
  api.request('PATCH', `/v1/deployments/${id}`, { key, body })
const end = (id: string, { key }: Pick<Caller, 'key'> = caller) =>
  api.request('DELETE', `/v1/deployments/${id}/live?reason=the+cluster+is+gone`, { key })

let environments = 0
const newEnvironment = () => `eu-${++environments}`

/** A deployment by the caller's key that was approved and, unless `status` says otherwise, succeeded. */
async function deploy(environment: string, { job = 'deploy', status = 'success', by = caller as Caller } = {}) {
  const run = await createRun(api, by, { repository: 'github.com/acme/shop' })
  const gate = await openGate(api, by, { run_id: run.id, environment, job })
  assert.equal((await answer(api, by, gate.deployment_id, 'approve')).status, 200)
  if (status !== '') assert.equal((await mark(gate.deployment_id, { status }, by)).status, 200)
  return gate.deployment_id as string
}

/** The same by the token of a run. */
async function deployByToken(environment: string, job = 'deploy') {
  const claims = newRunClaims()
  const { id: run_id } = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const gate = (await caller.send('POST', '/v1/ci/gates', { run_id, environment, job }, claims)).body.data
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).status, 200)
  const done = await caller.send('PATCH', `/v1/deployments/${gate.deployment_id}`, { status: 'success' }, claims)
  assert.equal(done.status, 200)
  return gate.deployment_id as string
}

type Status = { deployment: number; state: HostDeploymentState; at: number }
const ENVIRONMENTS = ['production', 'Production', 'staging', 'production', 'staging', 'production']
const PATHS = ['.github/workflows/ci.yml', '.github/workflows/deploy.yml']
const toDeployment = (index: number): HostDeployment =>
  hostDeployment({
    id: String(500 + index),
    environment: ENVIRONMENTS[index] as string,
    run: { id: String(9000 + index), attempt: 1 },
    created_at: minute(index),
  })
/** The ids of statuses grow in this order. */
const RANKS: HostDeploymentState[] = ['in_progress', 'failure', 'success', 'inactive']
const toEvent = ({ deployment, state, at }: Status): HostEvent => ({
  kind: 'deployment_status',
  data: hostStatus(state, minute(10 + at), toDeployment(deployment), {
    id: `${deployment}${at}${RANKS.indexOf(state)}`,
  }),
})
const runEvent = (index: number): HostEvent => ({
  kind: 'run',
  data: hostRun({
    id: String(9000 + index),
    created_at: minute(index),
    workflow: { id: '31', name: 'CI', path: PATHS[index % 2] as string },
  }),
})

/** What runs, from the statuses alone: of each place the last success that is not inactive since. */
function computeLive(statuses: readonly Status[]): string[] {
  const newest = new Map<string, { id: string; at: number; runs: boolean }>()
  for (const index of ENVIRONMENTS.keys()) {
    const own = statuses.filter(({ deployment }) => deployment === index)
    const successes = own.filter(({ state }) => state === 'success').map(({ at }) => at)
    if (successes.length === 0) continue
    const at = Math.max(...successes)
    const id = `gh_deployment_${500 + index}`
    // Of those of one minute, the host says `inactive` after `success`.
    const runs = !own.some((status) => status.state === 'inactive' && status.at >= at)
    const place = `${ENVIRONMENTS[index]?.toLowerCase()} ${index % 2}`
    const other = newest.get(place)
    if (other === undefined || at > other.at || (at === other.at && id > other.id)) newest.set(place, { id, at, runs })
  }
  return [...newest.values()]
    .filter(({ runs }) => runs)
    .map(({ id }) => id)
    .sort()
}

test('what runs is listed and kept with its run however old it is, and expires after it was replaced', async () => {
  const owner = await api.caller()
  await configureGate(api, owner, { environment: '*' })
  await assignPlan(api.services, owner.slug, 'team')
  const first = await deploy('production', { by: owner })
  const other = await deploy('staging', { by: owner, status: 'failure' })
  await api.services.sql`update ci_runs set status = 'success', completed_at = started_at where org_id = ${owner.orgId}`
  const removeAll = () => removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  const kept = async () => (await api.services.sql`select id from deployments where org_id = ${owner.orgId}`).length
  api.clock.advance(400 * DAY_MS)
  await removeAll()
  assert.deepEqual(await liveIds(owner), [first])
  assert.equal((await api.request('GET', `/v1/deployments/${first}`, { key: owner.key })).status, 200)
  assert.equal((await api.request('GET', `/v1/deployments/${other}`, { key: owner.key })).status, 404)
  assert.equal(await kept(), 1)
  assert.equal((await api.services.sql`select from ci_runs where org_id = ${owner.orgId}`).length, 1)
  const second = await deploy('production', { by: owner })
  api.clock.advance(10 * DAY_MS)
  await removeAll()
  assert.equal(await kept(), 2)
  api.clock.advance(400 * DAY_MS)
  await removeAll()
  assert.deepEqual(await liveIds(owner), [second])
  assert.equal(await kept(), 1)
})

const anyStatus = fc.record({
  deployment: fc.nat({ max: ENVIRONMENTS.length - 1 }),
  state: fc.constantFrom<HostDeploymentState>('in_progress', 'success', 'success', 'inactive', 'failure'),
  at: fc.nat({ max: 3 }),
})

test('what runs is the last success of each environment and workflow, in whatever order the host says so', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStatus, { minLength: 1, maxLength: 12 }),
      fc.shuffledSubarray([...ENVIRONMENTS.keys()], { minLength: ENVIRONMENTS.length }),
      fc.nat({ max: 12 }),
      async (statuses, runs, split) => {
        const owner = await api.caller()
        const source = await insertConnection(api.services.sql, owner.orgId)
        const events = statuses.map(toEvent)
        await applyEvents(api, source, [...events.slice(0, split), ...runs.map(runEvent), ...events.slice(split)])
        assert.deepEqual(await liveIds(owner), computeLive(statuses))
      },
    ),
    { numRuns: 40 },
  )
})

test('of successes that are stated at the same time one runs in each unit', async () => {
  const [environment, other] = [newEnvironment(), newEnvironment()]
  const waiting = await Promise.all(
    Array.from({ length: 8 }, (_, index) => deploy(index % 2 ? environment : other, { status: '' })),
  )
  await Promise.all(waiting.map((id) => mark(id, { status: 'success' })))
  const expected = [environment, other].map((_, rest) =>
    waiting
      .filter((_id, index) => index % 2 === rest)
      .sort()
      .at(-1),
  )
  const live = await listLive()
  assert.deepEqual(
    live
      .filter(({ id }) => waiting.includes(id))
      .map(({ id }) => id)
      .sort(),
    expected.sort(),
  )
})

test('a job or another lane has a unit of its own, and the older statement of the weaker one is stale', async () => {
  const environment = newEnvironment()
  const first = await deploy(environment)
  api.clock.advance(1000)
  const worker = await deploy(environment, { job: 'worker' })
  const second = await deploy(environment)
  api.clock.advance(1000)
  const byToken = await deployByToken(environment)
  const live = await listLive(caller, `&environment=${environment}`)
  assert.deepEqual(live.map(({ id }) => id).sort(), [worker, second, byToken].sort())
  assert.deepEqual(live.find(({ id }) => id === second)?.live, {
    since: new Date(api.clock.now().getTime() - 1000).toISOString(),
    slot: 'deploy',
    trust: 'self_reported',
    stale: true,
  })
  for (const id of [worker, byToken]) assert.equal(live.find((one) => one.id === id)?.live.stale, false)
  const replaced = (await api.request('GET', `/v1/deployments/${first}`, { key: caller.key })).body.data
  assert.deepEqual([replaced.status, replaced.live], ['success', null])
})

test('what the end of a run says counts like a statement', async () => {
  const environment = newEnvironment()
  const run = await createRun(api, caller)
  const gate = await openGate(api, caller, { run_id: run.id, environment })
  await answer(api, caller, gate.deployment_id, 'approve')
  await patchRun(api, caller, run.id, { status: 'success' })
  await drainQueue(api)
  assert.deepEqual(await liveIds(caller, `&environment=${environment}`), [gate.deployment_id])
})

test('DELETE ends what runs, until it succeeds again: 409 not_live, 403 other_lane, with its reason in the audit log', async () => {
  const environment = newEnvironment()
  const first = await deploy(environment)
  assertError(await end('unknown'), 404, 'not_found')
  const stranger = await api.caller()
  assertError(await end(first, stranger), 404, 'not_found')
  const { status, body } = await end(first)
  assert.deepEqual([status, body.data.live, body.data.status], [200, null, 'success'])
  assertError(await end(first), 409, 'not_live')
  const [entry] = (await auditOf(api, caller, first)).filter(({ action }) => action === 'deployment.end_live')
  assert.equal(entry?.reason, 'the cluster is gone')
  assert.deepEqual(await liveIds(caller, `&environment=${environment}`), [])
  const second = await deploy(environment)
  assert.deepEqual(await liveIds(caller, `&environment=${environment}`), [second])

  const byToken = await deployByToken(newEnvironment())
  assertError(await end(byToken), 403, 'other_lane')
  const person = await createPerson(api, { orgId: caller.orgId, slug: caller.slug })
  const path = `/deployments/${byToken}/live?reason=the+cluster+is+gone`
  assert.equal((await requestAs(api, person, 'DELETE', path)).status, 200)
  assertError(await end(byToken), 409, 'not_live')
})

test('an ended deployment of a host runs again after its next success', async () => {
  const owner = await api.caller()
  const source = await insertConnection(api.services.sql, owner.orgId)
  const apply = (...statuses: Status[]) => applyEvents(api, source, statuses.map(toEvent))
  const live = () => liveIds(owner)
  await apply({ deployment: 0, state: 'success', at: 0 })
  assert.deepEqual(await live(), ['gh_deployment_500'])
  await apply({ deployment: 0, state: 'inactive', at: 1 })
  assert.deepEqual(await live(), [])
  await apply({ deployment: 0, state: 'success', at: 2 })
  assert.deepEqual(await live(), ['gh_deployment_500'])
  assertError(await end('gh_deployment_500', owner), 403, 'other_lane')
})

test('deployments from before units were kept get theirs within a minute', async () => {
  const owner = await api.caller()
  await configureGate(api, owner, { environment: '*' })
  await deploy('production', { by: owner })
  const second = await deploy('production', { by: owner })
  const { sql } = api.services
  await sql`
    update deployments set live_unit = null, live_lane = null, live_at = null, succeeded_at = null where org_id = ${owner.orgId}`
  await sql`delete from live_deployments where org_id = ${owner.orgId}`
  const { settleDeployments } = await import('../../../../src/deployments/gates/settle-deployments.job.ts')
  await settleDeployments.run(api.services, {})
  assert.deepEqual(await liveIds(owner), [second])
})
