import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { DeploymentGate } from '../../../../../src/deployments/gates/gate.schema.ts'
import { updatePollToken } from '../../../../../src/deployments/gates/opened-gate.store.ts'
import { computePollToken, hashPollToken } from '../../../../../src/deployments/gates/opened-gate.ts'
import { settleDeployments } from '../../../../../src/deployments/gates/settle-deployments.job.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { createRun } from '../../../../support/ci-runs.ts'
import { answer, answerWithKey, getDeployment, openGate, pollGate, REASON } from '../../../../support/gates.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

/** Opens a gate whose run does not reach its deadline before the poll token expires. */
async function lastingGate() {
  await openGate(api, caller, { job: 'first' })
  const { id: run_id } = await createRun(api, caller, { timeout_minutes: 4320 })
  return openGate(api, caller, { run_id })
}

test('200 with the opened gate, without poll_token and expires_at', async () => {
  const gate = await openGate(api, caller)
  const { status, body } = await pollGate(api, gate)
  const { poll_token: _token, expires_at: _at, ...rest } = gate
  assert.deepEqual([status, body], [200, { data: rest }])
  assert.ok(Check(DeploymentGate, body.data))
})

test("401 with the gateway's own body for anything but the gate's own token", async () => {
  const [gate, other] = [await openGate(api, caller), await openGate(api, caller)]
  const last = gate.poll_token.slice(-1)
  const wrong = [
    undefined,
    caller.key,
    other.poll_token,
    `${gate.poll_token.slice(0, -1)}${last === 'a' ? 'b' : 'a'}`,
    `${gate.poll_token}a`,
    'shl_gate_',
  ]
  for (const key of wrong) assertUnauthorized(await get(gate.gate_id, key))
  assertUnauthorized(await get('00000000-0000-4000-8000-000000000000', gate.poll_token))
  assert.equal((await pollGate(api, gate)).status, 200)
})

test('a poll token gives access to no other route', async () => {
  const { poll_token: key, deployment_id } = await openGate(api, caller)
  for (const path of [`/v1/deployments/${deployment_id}`, '/v1/runs']) {
    assertUnauthorized(await api.request('GET', path, { key }))
  }
  assertUnauthorized(await answerWithKey(api, { key }, deployment_id, 'approve'))
})

test('400 for a gate id that is not a lowercase UUID', async () => {
  const gate = await openGate(api, caller)
  for (const id of ['gate', gate.gate_id.toUpperCase()]) assertInvalid(await get(id, gate.poll_token), '/path/gate_id')
})

test('401 comes before the validation of the request', async () => {
  for (const key of [undefined, caller.key, 'shl_gate_']) assertUnauthorized(await get('gate', key))
})

test('poll_after_seconds is 5 in the first minute, 15 until the tenth, then 60', async () => {
  const gate = await lastingGate()
  const pauses: number[] = []
  for (const ms of [0, MINUTE_MS - 1, 1, 9 * MINUTE_MS - 1, 1, HOUR_MS]) {
    api.clock.advance(ms)
    pauses.push((await pollGate(api, gate)).body.data.poll_after_seconds)
  }
  assert.deepEqual(pauses, [5, 5, 15, 15, 60, 60])
})

test('the token expires 12 hours after it was issued', async () => {
  const gate = await lastingGate()
  api.clock.advance(12 * HOUR_MS - 1)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  api.clock.advance(1)
  assertUnauthorized(await pollGate(api, gate))
})

test('a gate without an answer is expired and rejected after 12 hours, before and after the scheduled job has run', async () => {
  const gate = await lastingGate()
  api.clock.advance(12 * HOUR_MS)
  const token = await renewed(gate)
  for (const settle of [false, true]) {
    if (settle) await settleDeployments.run(api.services, {})
    const { body } = await get(gate.gate_id, token)
    const { status, decision, decided_by } = body.data
    assert.deepEqual([status, decision, decided_by], ['expired', 'rejected', 'expiry'])
    const deployment = await getDeployment(api, caller, gate.deployment_id)
    const { custom_rule_state, custom_rule_awaiting } = deployment
    assert.deepEqual([deployment.status, custom_rule_state, custom_rule_awaiting], ['expired', 'expired', null])
    const listed = async (state: string) => {
      const { body } = await api.request('GET', `/v1/deployments?status=${state}`, { key: caller.key })
      return body.data.some(({ id }: { id: string }) => id === gate.deployment_id)
    }
    assert.deepEqual([await listed('expired'), await listed('pending_approval')], [true, false])
    assertError(await answer(api, caller, gate.deployment_id, 'approve'), 409, 'already_decided')
  }
})

/** A token of now. Opening the gate again would open another one, because it has expired. */
async function renewed({ gate_id: id }: { gate_id: string }): Promise<string> {
  const { sql, clock, pollTokenKey } = api.services
  const poll_token_issued_at = clock.now()
  const token = computePollToken(pollTokenKey, id, poll_token_issued_at)
  const renewed = { poll_token_sha256: hashPollToken(token), poll_token_issued_at }
  await sql.begin((tx) => updatePollToken(tx, { org_id: caller.orgId, id }, renewed, null))
  return token
}

test('the 13th poll within a minute is 429, and each poll is allowed again a minute later', async () => {
  const gate = await openGate(api, caller)
  const started = api.clock.now().getTime()
  const first = await pollGate(api, gate)
  assert.deepEqual(allowanceIn(first), ['12', '11', '60'])
  api.clock.advance(30_000)
  for (let polled = 1; polled < 12; polled += 1) assert.equal((await pollGate(api, gate)).status, 200)
  const refused = await pollGate(api, gate)
  const resetAt = new Date(started + MINUTE_MS).toISOString()
  assert.deepEqual(assertError(refused, 429, 'rate_limited'), { limit: 12, resetAt })
  assert.deepEqual([allowanceIn(refused), refused.headers.get('retry-after')], [['12', '0', '30'], '30'])
  api.clock.advance(29_999)
  assert.equal((await pollGate(api, gate)).status, 429)
  api.clock.advance(1)
  assert.deepEqual([(await pollGate(api, gate)).status, (await pollGate(api, gate)).status], [200, 429])
})

test('polls are counted per gate, exactly, across processes', async () => {
  const beside = await startTestApi({ beside: api })
  try {
    const [gate, other] = [await openGate(api, caller), await openGate(api, caller)]
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => pollGate(at % 2 === 0 ? api : beside, gate)),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 12)
    assert.equal(answers.filter(({ status }) => status === 429).length, 18)
    assert.equal((await pollGate(api, other)).status, 200)
  } finally {
    await beside.close()
  }
})

test('a poll with a wrong token is not counted', async () => {
  const gate = await openGate(api, caller)
  for (let tried = 0; tried < 13; tried += 1) await get(gate.gate_id, (await openGate(api, caller)).poll_token)
  assert.deepEqual(allowanceIn(await pollGate(api, gate)), ['12', '11', '60'])
})

test('simultaneous polls of many gates each get their own gate and count, whatever tokens come with them', async () => {
  const gates = [await openGate(api, caller), await openGate(api, caller), await openGate(api, caller)]
  const polls = gates.flatMap((gate, at) => [
    ...[gate, gate].map((token) => ({ gate, token })),
    { gate, token: gates[(at + 1) % gates.length] },
  ])
  const answers = await Promise.all(polls.map(({ gate, token }) => get(gate.gate_id, token.poll_token)))
  for (const [at, { gate, token }] of polls.entries()) {
    const { status, body } = answers[at] as (typeof answers)[number]
    assert.equal(status, gate === token ? 200 : 401)
    if (status === 200) assert.equal(body.data.gate_id, gate.gate_id)
  }
  const unknown = get('00000000-0000-7000-8000-000000000000', gates[0].poll_token)
  assert.deepEqual(
    (await Promise.all([unknown, pollGate(api, gates[0])])).map(({ status }) => status),
    [401, 200],
  )
})

test('a decided gate shows who decided and why', async () => {
  const gate = await openGate(api, caller)
  await answer(api, caller, gate.deployment_id, 'reject', { reason: REASON, comment: 'See the incident.' })
  const { body } = await pollGate(api, gate)
  const { status, decision, decided_by, note } = body.data
  assert.deepEqual(
    { status, decision, decided_by, note },
    { status: 'decided', decision: 'rejected', decided_by: 'api_key:test key', note: `${REASON}\n\nSee the incident.` },
  )
})

test('a gate can still be polled after the key that opened it was revoked', async () => {
  const { key, keyId, ...own } = await api.caller()
  const gate = await openGate(api, { key, keyId, ...own })
  await api.services.sql`update api_keys set revoked_at = ${api.clock.now()} where id = ${keyId}`
  assert.equal((await pollGate(api, gate)).status, 200)
})

function get(id: string, key: string | undefined): Promise<Answer> {
  return api.request('GET', `/v1/ci/gates/${id}`, key === undefined ? {} : { key })
}

function allowanceIn({ headers }: Answer) {
  return ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))
}

function assertUnauthorized({ status, text, headers }: Answer): void {
  assert.deepEqual([status, text], [401, '{"message":"Unauthorized"}'])
  assert.equal(headers.get('www-authenticate'), 'Bearer')
}
