import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Scope } from '../../../../src/access/scopes.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import {
  answer,
  approverOf,
  auditOf,
  configureGate,
  getDeployment,
  openGate,
  pollGate,
  postGate,
} from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, requestAs } from '../../../support/people.ts'
import { drainQueue } from '../../../support/queue.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../support/token-caller.ts'

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  await configureGate(api, caller, { environment: '*' })
})
after(async () => {
  await caller?.close()
  await api?.close()
})

const mark = (id: string, body: object, { key }: Pick<Caller, 'key'> = caller): Promise<Answer> =>
  api.request('PATCH', `/v1/deployments/${id}`, { key, body })

/** A deployment by the caller's key, approved unless `waits`. */
async function deploy({ waits = false, run_id = '' } = {}): Promise<Json> {
  const gate = await openGate(api, caller, {
    run_id: run_id || (await createRun(api, caller)).id,
    environment: `eu-${made++}`,
  })
  if (!waits) assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).status, 200)
  return gate
}
let made = 0

const keyWith = (scopes: Scope[]) => api.caller({ orgId: caller.orgId, scopes })

/** A deployment of a token's own run, approved by a key. */
async function deployByToken() {
  const claims = newRunClaims()
  const { id: run_id } = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const gate = (await caller.send('POST', '/v1/ci/gates', { run_id, environment: 'production' }, claims)).body.data
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).status, 200)
  const send = (body: object, by = claims) => caller.send('PATCH', `/v1/deployments/${gate.deployment_id}`, body, by)
  return { id: gate.deployment_id as string, run_id: run_id as string, claims, send }
}

for (const end of ['success', 'failure', 'cancelled']) {
  test(`an approved deployment goes to in_progress and ${end}; the same again is 200, another end 409 deployment_finished`, async () => {
    const { deployment_id: id } = await deploy()
    assert.equal((await mark(id, { status: 'in_progress' })).body.data.status, 'in_progress')
    const { status, body } = await mark(id, { status: end, version: '1.2.3', url: 'https://eu.example.com/' })
    assert.deepEqual(
      [status, body.data.status, body.data.version, body.data.environment_url],
      [200, end, '1.2.3', 'https://eu.example.com/'],
    )
    assert.equal(body.data.deployed_at, end === 'success' ? api.clock.now().toISOString() : null)
    const again = await mark(id, { status: end })
    assert.deepEqual([again.status, again.body.data], [200, body.data])
    for (const other of ['in_progress', 'success', 'failure', 'cancelled'].filter((one) => one !== end)) {
      const refused = await mark(id, { status: other })
      assertError(refused, 409, 'deployment_finished')
      assert.equal(refused.body.error.details.status, end)
    }
    const stored = await getDeployment(api, caller, id)
    assert.deepEqual(
      stored.marks.map(({ trust, status, version, by }: Json) => [trust, status, version, by.type]),
      [
        ['self_reported', 'in_progress', null, 'api_key'],
        ['self_reported', end, '1.2.3', 'api_key'],
      ],
    )
    const entries = (await auditOf(api, caller, id)).filter(({ action }) => action === 'deployment.mark')
    assert.deepEqual(
      entries.map(({ principal_type }) => principal_type),
      ['api_key', 'api_key'],
    )
  })
}

test('409 not_approved before the approval; cancelling it ends the gate', async () => {
  const gate = await deploy({ waits: true })
  for (const status of ['in_progress', 'success', 'failure'])
    assertError(await mark(gate.deployment_id, { status }), 409, 'not_approved')
  assert.equal((await mark(gate.deployment_id, { version: '2' })).body.data.status, 'pending_approval')
  assert.equal((await mark(gate.deployment_id, { status: 'cancelled' })).body.data.status, 'cancelled')
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.status, polled.decision, polled.decided_by], ['cancelled', 'rejected', 'api_key:test key'])
  assertError(await answer(api, caller, gate.deployment_id, 'approve'), 409, 'already_decided')
  const audited = (await auditOf(api, caller, gate.deployment_id)).map(({ action, principal_type }) => [
    action,
    principal_type,
  ])
  assert.deepEqual(audited.toSorted(), [
    ['deployment.cancel', 'api_key'],
    ['deployment.mark', 'api_key'],
    ['deployment.mark', 'api_key'],
  ])
})

test('a rejected deployment has ended', async () => {
  const { deployment_id: id } = await deploy({ waits: true })
  await answer(api, caller, id, 'reject')
  assertError(await mark(id, { status: 'in_progress' }), 409, 'deployment_finished')
})

test('403 insufficient_scope for a key that neither opened the gate nor has write:deployments; 404 elsewhere', async () => {
  const { deployment_id: id } = await deploy()
  const other = await keyWith(['write:ci'])
  const refused = await mark(id, { status: 'failure' }, other)
  assertError(refused, 403, 'insufficient_scope')
  assert.equal(refused.body.error.details.requiredScope, 'write:deployments')
  const stranger = await api.caller()
  assertError(await mark(id, { status: 'failure' }, stranger), 404, 'not_found')
  assertError(await mark('dep_unknown', { status: 'failure' }), 404, 'not_found')
  const { status, body } = await mark(id, { status: 'failure' }, await keyWith(['write:deployments']))
  assert.deepEqual([status, body.data.status], [200, 'failure'])
})

test('403 forbidden for a key that speaks about other repositories', async () => {
  const { deployment_id: id } = await deploy()
  const limited = await keyWith(['write:deployments'])
  await api.services.sql`update api_keys set repositories = array['acme/other'] where id = ${limited.keyId}`
  assertError(await mark(id, { status: 'failure' }, limited), 403, 'forbidden')
})

test('what a key says of the deployment of a token is shown, and decides nothing', async () => {
  const { id, run_id, claims, send } = await deployByToken()
  const key = await approverOf(api, caller)
  assertError(
    await send({ status: 'failure' }, newRunClaims({ repository: 'acme/other', repository_id: '7770002' })),
    403,
    'forbidden',
  )
  for (const status of ['in_progress', 'success'])
    assert.equal(
      (await mark(id, { status, version: 'forged', url: 'https://evil.example' }, key)).body.data.status,
      'approved',
    )
  assertError(await mark(id, { status: 'failure' }, key), 409, 'deployment_finished')
  const shown = await getDeployment(api, caller, id)
  assert.deepEqual([shown.version, shown.environment_url, shown.deployed_at], [null, null, null])
  assert.deepEqual(
    shown.marks.map(({ trust, status }: Json) => [trust, status]),
    [
      ['self_reported', 'in_progress'],
      ['self_reported', 'success'],
    ],
  )
  // Another job of the repository speaks in the lane of keys, too.
  assertError(await send({ status: 'failure' }, newRunClaims()), 409, 'deployment_finished')
  await caller.send('PATCH', `/v1/ci/runs/${run_id}`, { status: 'failure' }, claims)
  await drainQueue(api)
  assert.equal((await getDeployment(api, caller, id)).status, 'failure')
})

test('the token that opened the gate marks it, also in its next request', async () => {
  const { id, send } = await deployByToken()
  assert.equal((await send({ status: 'in_progress' })).body.data.status, 'in_progress')
  const { body } = await send({ status: 'success', version: '1' })
  assert.deepEqual([body.data.status, body.data.version], ['success', '1'])
  const entry = (await auditOf(api, caller, id)).find(({ action }) => action === 'deployment.mark')
  assert.equal(entry?.principal_type, 'system')
  assert.match(entry?.reason, /^Stated by a CI job of the trust /)
})

test('what a person says is shown beside; only the opener cancels a deployment that waits', async () => {
  const gate = await deploy({ waits: true })
  const person = await createPerson(api, {
    orgId: caller.orgId,
    slug: caller.slug,
    role: 'release_manager',
    name: 'Grace',
  })
  const path = `/app/api/orgs/${caller.slug}/deployments/${gate.deployment_id}`
  const cancel = await requestAs(api, person, 'PATCH', path, { status: 'cancelled' })
  assertError(cancel, 403, 'other_lane')
  await answer(api, caller, gate.deployment_id, 'approve')
  const { body } = await requestAs(api, person, 'PATCH', path, { status: 'failure' })
  assert.deepEqual([body.data.status, body.data.marks[0].trust, body.data.marks[0].by.type], ['approved', 'ui', 'user'])
  const developer = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer', name: 'Ada' })
  assertError(await requestAs(api, developer, 'PATCH', path, { status: 'success' }), 403, 'insufficient_permission')
})

test('of two ends at one time, one counts', async () => {
  const { deployment_id: id } = await deploy()
  const answers = await Promise.all(
    ['success', 'failure', 'success', 'cancelled'].map((status) => mark(id, { status })),
  )
  const { status } = await getDeployment(api, caller, id)
  for (const [at, sent] of ['success', 'failure', 'success', 'cancelled'].entries())
    assert.equal(answers[at]?.status, sent === status ? 200 : 409)
})

test('marks stay few, however often somebody changes what they say', async () => {
  const { deployment_id: id } = await deploy()
  for (const version of ['1', '2', '3', '3']) await mark(id, { version })
  await mark(id, { status: 'in_progress' })
  await mark(id, { version: '4', url: 'https://four.example' })
  const { marks, version } = await getDeployment(api, caller, id)
  assert.deepEqual(
    marks.map((one: Json) => [one.status, one.version]),
    [
      ['in_progress', null],
      [null, '4'],
    ],
  )
  assert.equal(version, '4')
})

for (const [title, body] of [
  ['an unknown status', { status: 'approved' }],
  ['an unknown field', { digests: [] }],
  ['credentials in the URL', { url: 'https://user:password@example.com' }],
  ['a long version', { version: 'v'.repeat(201) }],
] as const)
  test(`400: ${title}`, async () => {
    assertError(await mark('dep_1', body), 400, 'invalid_request')
  })

test('what is marked never changes by the run', async () => {
  const run_id = (await createRun(api, caller)).id
  const { deployment_id: id } = await deploy({ run_id })
  await mark(id, { status: 'in_progress' })
  await patchRun(api, caller, run_id, { status: 'failure' })
  await drainQueue(api)
  assert.equal((await getDeployment(api, caller, id)).status, 'in_progress')
  assert.equal((await mark(id, { status: 'success' })).body.data.status, 'success')
})

for (const [end, status] of [
  ['failure', 'approved'],
  ['cancelled', 'approved'],
  ['success', 'success'],
]) {
  test(`unmarked deployments of a run with several are ${status} when it ends with ${end}`, async () => {
    const run_id = (await createRun(api, caller)).id
    const [one, two, marked] = [await deploy({ run_id }), await deploy({ run_id }), await deploy({ run_id })]
    await mark(marked.deployment_id, { status: 'failure' })
    await patchRun(api, caller, run_id, { status: end })
    await drainQueue(api)
    const statuses = [one, two, marked].map(
      async (gate) => (await getDeployment(api, caller, gate.deployment_id)).status,
    )
    assert.deepEqual(await Promise.all(statuses), [status, status, 'failure'])
  })
}

test('two jobs that deploy to one environment are two deployments', async () => {
  const run_id = (await createRun(api, caller)).id
  const gates = []
  for (const job of ['eu', 'us']) gates.push(await openGate(api, caller, { run_id, environment: 'production', job }))
  for (const { deployment_id } of gates) await answer(api, caller, deployment_id, 'approve')
  await patchRun(api, caller, run_id, { status: 'failure' })
  await drainQueue(api)
  for (const { deployment_id } of gates)
    assert.equal((await getDeployment(api, caller, deployment_id)).status, 'approved')
})

test('timeout_minutes shortens one gate, of 5 to 720 minutes', async () => {
  const own = await startTestApi()
  try {
    const key = await own.caller()
    const gate = await openGate(own, key, { timeout_minutes: 30 })
    for (const timeout_minutes of [4, 721, 5.5])
      assertError(
        await postGate(own, key, { run_id: 'run_1', environment: 'a', timeout_minutes }),
        400,
        'invalid_request',
      )
    own.clock.advance(30 * 60_000 - 1)
    assert.equal((await pollGate(own, gate)).body.data.status, 'waiting')
    own.clock.advance(1)
    const polled = (await pollGate(own, gate)).body.data
    assert.deepEqual(
      [polled.status, polled.note],
      ['expired', 'The deployment was not approved or rejected within 30 minutes.'],
    )
    assert.equal((await getDeployment(own, key, gate.deployment_id)).status, 'expired')
    assertError(await answer(own, key, gate.deployment_id, 'approve'), 409, 'already_decided')
  } finally {
    await own.close()
  }
})
