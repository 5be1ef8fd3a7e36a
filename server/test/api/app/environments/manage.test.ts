import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { auditOf, configureGate, getDeployment, openGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let manager: Person

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  manager = await createPerson(api, { ...caller, role: 'release_manager', name: 'Grace Hopper' })
})
after(() => api?.close())

const call = (method: string, path: string, body?: unknown, person = manager) =>
  requestAs(api, person, method, `/environments${path}`, body)
const set = async (fields: object): Promise<Json> => {
  const answer = await call('POST', '', fields)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}
const list = async (): Promise<Json[]> => (await call('GET', '')).body.data
const order = async () => (await list()).map(({ environment, position }) => [environment, position])

test('200 with the stored entry; stated again, it keeps its place and the facts that are left out', async () => {
  const first = await set({ environment: 'prod*', exposure: 'internet', reason: 'The shop is public' })
  const { id, created_at, updated_at, ...stated } = first
  assert.deepEqual(stated, {
    ...{ position: 1, environment: 'prod*', repository: null },
    ...{ exposure: 'internet', criticality: null, production: null },
  })
  await set({ environment: 'prod*', repository: 'acme/*', criticality: 5 })
  api.clock.advance(1000)
  const again = await set({ environment: 'prod*', production: true })
  const now = api.clock.now().toISOString()
  assert.deepEqual(again, { ...first, production: true, updated_at: now })
  assert.notEqual(updated_at, now)
  assert.deepEqual((await list())[0], again)
  assert.equal((await list()).length, 2)
  const [entry] = await auditOf(api, caller, id)
  assert.deepEqual(
    [entry?.action, entry?.principal_id, entry?.reason],
    ['environment.set', manager.userId, 'The shop is public'],
  )
})

test('400 for a pattern that is not valid, and where no fact is left', async () => {
  const invalid = [
    { environment: '[*', exposure: 'none' },
    { environment: '*', repository: '(*', exposure: 'none' },
  ]
  for (const body of invalid) assertError(await call('POST', '', body), 400, 'invalid_request')
  for (const exposure of ['unknown', 'Internet'])
    assertError(await call('POST', '', { environment: '*', exposure }), 400, 'invalid_request')
  assertError(await call('POST', '', { environment: '*' }), 400, 'invalid_request')
  await set({ environment: '*', criticality: 1 })
  assertError(await call('POST', '', { environment: '*', criticality: null }), 400, 'invalid_request')
  assert.deepEqual(
    (await list()).map(({ criticality }) => criticality),
    [1],
  )
})

test('entries move and are deleted; the others close up', async () => {
  const entries: Json[] = []
  for (const environment of ['a', 'b', 'c']) entries.push(await set({ environment, exposure: 'none' }))
  const [a, b] = entries as [Json, Json]
  assert.equal((await call('PATCH', `/${a.id}`, { position: 3 })).body.data.position, 3)
  assert.deepEqual(await order(), [
    ['b', 1],
    ['c', 2],
    ['a', 3],
  ])
  assert.equal((await call('PATCH', `/${a.id}`, { position: 1 })).status, 200)
  assert.equal((await call('PATCH', `/${b.id}`, { position: 100 })).body.data.position, 3)
  assert.deepEqual(await order(), [
    ['a', 1],
    ['c', 2],
    ['b', 3],
  ])
  assert.equal((await call('DELETE', `/${a.id}?reason=Gone`)).status, 200)
  assert.deepEqual(await order(), [
    ['c', 1],
    ['b', 2],
  ])
  assertError(await call('DELETE', `/${a.id}`), 404, 'not_found')
  assertError(await call('PATCH', `/${a.id}`, { position: 1 }), 404, 'not_found')
  const actions = (await auditOf(api, caller, a.id)).map(({ action }) => action)
  assert.deepEqual(actions.sort(), ['environment.delete', 'environment.move', 'environment.move', 'environment.set'])
})

test('parallel calls each add their entry, and the order has no gap and no doubles', async () => {
  const names = Array.from({ length: 8 }, (_, number) => `env-${number}`)
  await Promise.all([...names, ...names].map((environment) => set({ environment, criticality: 3 })))
  const entries = await list()
  assert.deepEqual(entries.map(({ environment }) => environment).sort(), names)
  assert.deepEqual(
    entries.map(({ position }) => position),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
})

test('409 too_many_environments for more than 100 entries', async () => {
  await api.services.sql`
    insert into environment_facts (org_id, id, position, environment, exposure, created_at, updated_at)
    select ${caller.orgId}, gen_random_uuid(), number, 'env-' || number, 'none', now(), now()
    from generate_series(1, 100) number`
  assertError(await call('POST', '', { environment: 'one-more', exposure: 'none' }), 409, 'too_many_environments')
  await set({ environment: 'env-7', exposure: 'internal' })
})

test('a deployment shows the exposure of its environment as of now, by the first entry that matches', async () => {
  await configureGate(api, caller, { environment: 'Prod-EU' })
  const run = await createRun(api, caller, { repository: 'github.com/acme/shop' })
  const { deployment_id: id } = await openGate(api, caller, { run_id: run.id, environment: 'Prod-EU' })
  const exposure = async () => (await getDeployment(api, caller, id)).exposure
  assert.equal(await exposure(), 'unknown')
  await set({ environment: 'prod-*', repository: 'github.com/acme/*', exposure: 'internet' })
  assert.equal(await exposure(), 'internet', 'with the host of its run, without case as GitHub has it')
  const { id: special } = await set({ environment: 'prod-eu', repository: 'acme/shop', exposure: 'internal' })
  assert.equal(await exposure(), 'internet')
  await call('PATCH', `/${special}`, { position: 1 })
  assert.equal(await exposure(), 'internal')
  const listed = await api.request('GET', '/v1/deployments', { key: caller.key })
  assert.deepEqual(
    listed.body.data.map((deployment: Json) => deployment.exposure),
    ['internal'],
  )
  await set({ environment: 'prod-eu', repository: 'acme/shop', exposure: null, criticality: 2 })
  assert.equal(await exposure(), 'unknown', 'the first match counts, even if it does not state the exposure')
})

test('what one organization states is unknown in another, and viewers only read it', async () => {
  const { id } = await set({ environment: '*', exposure: 'internet' })
  const other = await api.caller()
  const stranger = await createPerson(api, { ...other, role: 'release_manager' })
  assert.deepEqual((await call('GET', '', undefined, stranger)).body.data, [])
  assertError(await call('PATCH', `/${id}`, { position: 1 }, stranger), 404, 'not_found')
  assertError(await call('DELETE', `/${id}`, undefined, stranger), 404, 'not_found')
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  assert.equal((await call('GET', '', undefined, viewer)).body.data.length, 1)
  assertError(await call('POST', '', { environment: '*', exposure: 'none' }, viewer), 403, 'insufficient_permission')
})
