// No second chance: what a weaker sender reaches by mixing calls opens a gate.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { TESTS } from '../support/ci-reports.ts'
import { configureGate, getDeployment, pollGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'
import { ownRun } from '../support/token-caller.ts'
import { type Sender, type Shop, TrustWorld } from '../support/trust-world.ts'

const RULE = "attestations.exists(a, a.kind == 'test-results') && attestations.all(a, a.status == 'pass')"
/** Each is weaker than the job of the run. */
const WEAKER = ['other_ref', 'stranger', 'foreign', 'scans', 'key'] as const satisfies readonly Sender[]

let api: TestApi
let world: TrustWorld

before(async () => {
  api = await startTestApi()
  world = await TrustWorld.start(api)
  await configureGate(api, world.caller, { name: 'live', environment: 'live', policies: ['tested'] })
  const rule = `  - rule: tested\n    expression: "${RULE}"\n    trust: verified\n`
  await apply(api, world.caller, `name: tested\nmode: enforce\nbindings: { environments: ['live'] }\nrules:\n${rule}`)
})
after(async () => {
  await world?.close()
  await api?.close()
})

function open(shop: Shop, by: Sender, fields: Json = {}): Promise<Answer> {
  return world.send(shop, by, 'POST', '/v1/ci/gates', { run_id: shop.runId, environment: 'live', ...fields })
}

async function report(shop: Shop, by: Sender, failed: number, name = 'test'): Promise<Answer> {
  api.clock.advance(1000)
  const body = { job: { name }, attestations: [{ ...TESTS, data: { ...TESTS.data, failed } }] }
  const sent = await world.send(shop, by, 'POST', `/v1/ci/runs/${shop.runId}/reports`, body)
  await drainQueue(api)
  return sent
}

async function statusOf({ deployment_id }: Json): Promise<string> {
  return (await getDeployment(api, world.caller, deployment_id)).status
}

test('nobody weaker than who opened a gate uses up its approval by opening it again', async () => {
  for (const by of WEAKER) {
    const shop = await world.openShop()
    const gate = (await open(shop, 'job')).body.data
    await report(shop, 'job', 0)
    assert.equal(await statusOf(gate), 'approved')
    const refused = await open(shop, by)
    assertError(refused, 403, by === 'foreign' ? 'forbidden' : 'other_lane')
    assert.ok(!refused.text.includes(gate.poll_token))
    await report(shop, 'job', 1, 'lint')
    assert.equal(await statusOf(gate), 'pending_approval', by)
    assert.equal((await pollGate(api, gate)).body.data.decision, 'pending')
  }
})

test('a job takes over the gate that a key had opened for its run, whose poll token ends', async () => {
  const shop = await world.openShop()
  const ofKey = (await open(shop, 'key')).body.data
  const [one, other] = (await Promise.all([open(shop, 'job'), open(shop, 'job')])).map(({ body }) => body.data)
  assert.deepEqual([one.gate_id, other.gate_id], [ofKey.gate_id, ofKey.gate_id])
  assert.notEqual(one.poll_token, ofKey.poll_token)
  assert.equal(other.poll_token, one.poll_token)
  await report(shop, 'job', 0)
  assert.equal((await pollGate(api, ofKey)).status, 401)
  assertError(await open(shop, 'key'), 403, 'other_lane')
  await report(shop, 'job', 1, 'lint')
  assert.equal((await pollGate(api, one)).body.data.decision, 'pending')
})

test('an approval that a key has read is asked again when the job opens the gate', async () => {
  const shop = await world.openShop()
  await report(shop, 'job', 0)
  const ofKey = await open(shop, 'key')
  assert.equal(ofKey.body.data.decision, 'approved')
  await report(shop, 'job', 1, 'lint')
  const ofJob = await open(shop, 'job')
  assert.deepEqual([ofJob.status, ofJob.body.data.decision], [201, 'pending'])
  assert.equal(ofJob.body.data.supersedes, ofKey.body.data.gate_id)
  assertError(await open(shop, 'key'), 403, 'other_lane')
})

/** What a weaker sender can say around a gate that another has opened. */
function attack(shop: Shop, gate: Json, by: Sender): Promise<Answer>[] {
  const run = ownRun(shop.claims, { repository: `github.com/${shop.repository}`, commit_sha: shop.claims.sha })
  const tests = { job: { name: 'test', instance: '1' }, attestations: [TESTS] }
  const send = (method: string, path: string, body: object) => world.send(shop, by, method, path, body)
  return [
    ...[{}, { continue: true }, { attempt: 999 }, { ci_instance: 'https://ci.example.com' }].map((fields) =>
      send('POST', '/v1/ci/runs', { ...run, ...fields }),
    ),
    send('POST', `/v1/ci/runs/${shop.runId}/reports`, tests),
    send('POST', `/v1/ci/runs/${shop.runId}/reports`, { ...tests, job: { name: 'test' } }),
    ...['failure', 'success', 'cancelled'].map((status) => send('PATCH', `/v1/ci/runs/${shop.runId}`, { status })),
    ...['cancelled', 'success', 'in_progress', 'rolled_back'].map((status) =>
      send('PATCH', `/v1/deployments/${gate.deployment_id}`, { status, url: 'https://evil.example.com' }),
    ),
    send('POST', `/v1/deployments/${gate.deployment_id}/approve`, { reason: 'Let me through.' }),
    ...[{}, { attempt: 999 }, { environment: 'LIVE' }, { expect: { commit_sha: 'f'.repeat(40) } }].map((fields) =>
      open(shop, by, fields),
    ),
  ]
}

test('no mixture of weaker calls, in turn or at once, opens, ends or moves a gate that waits for tests', async () => {
  for (const isAtOnce of [false, true]) {
    const shop = await world.openShop()
    await report(shop, 'job', 1)
    const gate = (await open(shop, 'job')).body.data
    const answers: Answer[] = []
    if (isAtOnce) answers.push(...(await Promise.all(WEAKER.flatMap((by) => attack(shop, gate, by)))))
    else for (const by of WEAKER) answers.push(...(await Promise.all(attack(shop, gate, by))))
    await drainQueue(api)
    assert.deepEqual(
      answers.filter(({ status, text }) => status >= 500 || text.includes(gate.poll_token)),
      [],
    )
    assert.ok(answers.every(({ body }) => body?.data?.decision !== 'approved'))
    const { decision, status, superseded_by } = (await pollGate(api, gate)).body.data
    assert.deepEqual([decision, status, superseded_by], ['pending', 'waiting', undefined])
    const { status: shown, html_url } = await getDeployment(api, world.caller, gate.deployment_id)
    assert.deepEqual([shown, html_url === 'https://evil.example.com'], ['pending_approval', false])
    await report(shop, 'job', 0)
    assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  }
})

test('another organization learns nothing of a gate, and moves nothing', async () => {
  const shop = await world.openShop()
  const gate = (await open(shop, 'job')).body.data
  const { key } = await api.caller()
  const ask = (id: string, runId: string) =>
    Promise.all([
      api.request('POST', '/v1/ci/gates', { key, body: { run_id: runId, environment: 'live' } }),
      api.request('PATCH', `/v1/deployments/${id}`, { key, body: { status: 'cancelled' } }),
      api.request('GET', `/v1/deployments/${id}`, { key }),
      api.request('POST', `/v1/deployments/${id}/approve`, { key, body: { reason: 'We let it through.' } }),
      api.request('PATCH', `/v1/ci/runs/${runId}`, { key, body: { status: 'failure' } }),
      api.request('POST', `/v1/ci/runs/${runId}/reports`, {
        key,
        body: { job: { name: 'test' }, attestations: [TESTS] },
      }),
    ])
  const told = ({ status, body }: Answer) => [status, body.error.code, body.error.message]
  const [known, unknown] = [
    await ask(gate.deployment_id, shop.runId),
    await ask(`dep_${'0'.repeat(8)}`, '019cb747-0000-7000-8000-000000000000'),
  ]
  assert.deepEqual(
    known.map(({ status }) => status),
    known.map(() => 404),
  )
  assert.deepEqual(known.map(told), unknown.map(told))
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
})
