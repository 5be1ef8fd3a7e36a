import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type OpenedGate } from '@shiplock/sdk'
import { apiError, json, type Step, silence, startScriptedServer } from './support/scripted-server.ts'

const OPENED: OpenedGate = {
  gate_id: '00000000-0000-4000-8000-000000000000',
  deployment_id: 'dep_1',
  environment: 'production',
  gate: { id: 'g1', name: 'Production' },
  decision: 'pending',
  status: 'waiting',
  decided_by: null,
  note: null,
  url: 'https://example.com/deployments/dep_1',
  poll_after_seconds: 0.05,
  poll_token: 'shl_gate_secret',
  expires_at: '2026-01-01T12:00:00.000Z',
}
const { poll_token: _, expires_at: __, ...WAITING } = OPENED

const answer = (fields: object): Step => json(200, { data: { ...WAITING, ...fields } })
const DECIDED = answer({ status: 'decided', decision: 'approved', decided_by: 'policy' })
const client = (url: string) => createClient({ url, token: 'the API key', retry: { firstDelayMs: 1 } })

test('a gate is polled with its own token and a wait, and only changes are reported', async () => {
  await using server = await startScriptedServer(answer({}), answer({ note: 'Rule 1 fails.' }), DECIDED)
  const seen: unknown[] = []
  const onState = ({ status, note }: { status: string; note: string | null }) => void seen.push([status, note])
  const gate = await client(server.url).waitForGate(OPENED, { onState })
  assert.equal(gate.decision, 'approved')
  assert.deepEqual(seen, [
    ['waiting', null],
    ['waiting', 'Rule 1 fails.'],
    ['decided', null],
  ])
  for (const { path, headers } of server.received) {
    assert.equal(path, `/v1/ci/gates/${OPENED.gate_id}`)
    assert.deepEqual([headers.authorization, headers.prefer], ['Bearer shl_gate_secret', 'wait=20'])
  }
})

test('poll_after_seconds passes between the beginnings of two polls', async () => {
  const polledAt: number[] = []
  const timed =
    (step: Step): Step =>
    (response, request) => {
      polledAt.push(performance.now())
      return step(response, request)
    }
  const later = timed(answer({ poll_after_seconds: 0.4 }))
  await using server = await startScriptedServer(later, later, timed(DECIDED))
  await client(server.url).waitForGate(OPENED)
  // On a busy machine, one request may take longer to arrive than the next one.
  for (const [i, at] of polledAt.slice(1).entries()) assert.ok(at - (polledAt[i] as number) > 200, `${polledAt}`)
})

test('a gate that is decided already is not polled', async () => {
  const gate = await client('http://127.0.0.1:9').waitForGate({ ...OPENED, status: 'expired', decision: 'rejected' })
  assert.deepEqual([gate.status, 'poll_token' in gate], ['expired', false])
})

test('a failed poll is repeated, and a rejected token ends the wait', async () => {
  await using server = await startScriptedServer(apiError(503, 'unavailable'), DECIDED)
  assert.equal((await client(server.url).waitForGate(OPENED)).decision, 'approved')
  await using strict = await startScriptedServer(json(401, { message: 'Unauthorized' }))
  await assert.rejects(client(strict.url).waitForGate(OPENED), { code: 'unauthorized' })
})

test('a signal ends the wait', async () => {
  await using server = await startScriptedServer(silence)
  const stop = new AbortController()
  const waiting = client(server.url).waitForGate(OPENED, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
})
