import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { approverOf, configureGate } from '../../server/test/support/gates.ts'
import { drainQueue } from '../../server/test/support/queue.ts'
import { ended, shiplock, startShiplock } from './support/program.ts'
import { startServer } from './support/server.ts'

const { api, caller, env } = await startServer()
await configureGate(api, caller, { name: 'Release managers' })
const REASON = 'Release 1.2 was announced for today.'
const SOURCE = ['--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]
let runs = 0

function newRun(): string[] {
  return [...SOURCE, '--ci-system', 'test', '--external-run-id', `gate-${++runs}`]
}

function open(...more: string[]): string[] {
  return ['gate', 'open', '--environment', 'production', ...newRun(), ...more]
}

test('0: an opened gate prints its decision and says what it waits for; a repetition is the same gate', async () => {
  const args = open()
  const { code, stdout, stderr } = await shiplock(args, { env })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'pending\n')
  assert.match(stderr, /^Waiting for the approval of the gate "Release managers" of production.*: http/)
  const first = await shiplock([...args, '--json'], { env })
  const second = await shiplock([...args, '--json'], { env })
  assert.equal(first.json.decision, 'pending')
  assert.equal(second.json.gate_id, first.json.gate_id)
  const other = await shiplock([...args, '--job', 'eu', '--json'], { env })
  assert.notEqual(other.json.gate_id, first.json.gate_id)
})

for (const [answer, code] of [
  ['approve', 0],
  ['reject', 3],
] as const) {
  test(`${code}: --wait waits until a person decides to ${answer}`, async () => {
    const args = open('--wait', '--json')
    const child = startShiplock(args, { env })
    const end = ended(child, args)
    await once(child.stderr as NodeJS.ReadableStream, 'data')
    const { body } = await api.request('GET', '/v1/deployments?limit=1', { key: caller.key })
    const { status } = await api.request('POST', `/v1/deployments/${body.data[0].id}/${answer}`, {
      key: (await approverOf(api, caller)).key,
      body: { reason: REASON },
    })
    assert.equal(status, 200)
    const { code: exitCode, json, stderr } = await end
    assert.equal(exitCode, code, stderr)
    assert.equal(json.decision, answer === 'approve' ? 'approved' : 'rejected')
    assert.equal(json.poll_token, undefined)
    assert.match(stderr, /^Waiting for the approval of the gate "Release managers" of production/)
    assert.match(
      stderr,
      /\nThe deployment to production is (?:approved|rejected) by api_key:test key: Release 1\.2 was announced for today\.\n$/,
    )
  })
}

test('3: a rejected gate stays until evidence comes; then another one takes its place, and --wait waits for it', async () => {
  const args = open('--job', 'again', '--wait', '--json')
  const wait = async (...said: RegExp[]) => {
    const child = startShiplock(args, { env })
    const end = ended(child, args)
    await once(child.stderr as NodeJS.ReadableStream, 'data')
    const { body } = await api.request('GET', '/v1/deployments?limit=1', { key: caller.key })
    const path = `/v1/deployments/${body.data[0].id}/reject`
    const { key } = await approverOf(api, caller)
    assert.equal((await api.request('POST', path, { key, body: { reason: REASON } })).status, 200)
    const { code, json, stderr } = await end
    assert.equal(code, 3, stderr)
    for (const text of said) assert.match(stderr, text)
    return { gate: json, run: body.data[0].pipeline_run_id }
  }
  const first = await wait()
  const same = await shiplock(args, { env })
  assert.deepEqual([same.code, same.json.gate_id], [3, first.gate.gate_id])
  api.clock.advance(1000)
  const attestations = [{ kind: 'custom', name: 'review', status: 'pass', data: {} }]
  const report = { job: { name: 'review' }, attestations }
  const path = `/v1/ci/runs/${first.run}/reports`
  assert.equal((await api.request('POST', path, { key: caller.key, body: report })).status, 201)
  const second = await wait(/^The gate [0-9a-f-]{36}, which was opened before .* takes its place\.\nWaiting for/)
  assert.equal(second.gate.supersedes, first.gate.gate_id)
})

test('3: a run that fails cancels the gate, and so ends the waiting', async () => {
  const run = newRun()
  const child = startShiplock(['gate', 'open', '--environment', 'production', '--wait', ...run], { env })
  const end = ended(child)
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  assert.equal((await shiplock(['run', 'finish', '--status', 'failure', ...run], { env })).code, 0)
  await drainQueue(api)
  const { code, stdout, stderr } = await end
  assert.equal(code, 3, stderr)
  assert.equal(stdout, 'rejected\n')
  assert.match(stderr, /The deployment to production is rejected \(cancelled\)/)
})

test('0: by the id of the run, the gate is opened for its newest attempt', async () => {
  const run = newRun()
  const { stdout } = await shiplock(['run', 'start', ...run], { env })
  await shiplock(['run', 'start', ...run, '--attempt', '2'], { env })
  const { code, json, stderr } = await shiplock(
    ['gate', 'open', '--environment', 'production', '--run', stdout.trim(), '--json'],
    { env },
  )
  assert.equal(code, 0, stderr)
  const { body } = await api.request('GET', `/v1/deployments/${json.deployment_id}`, { key: caller.key })
  assert.equal(body.data.attempt, 2)
})

test('1: no gate covers the environment', async () => {
  const { code, stderr } = await shiplock(['gate', 'open', '--environment', 'dev', ...newRun()], { env })
  assert.equal(code, 1)
  assert.match(stderr, /^shiplock: .*\(409 gate_not_configured, /)
})

test('2: no environment', async () => {
  const { code, stderr } = await shiplock(['gate', 'open', ...newRun()], { env })
  assert.equal(code, 2)
  assert.match(stderr, /Give the environment with --environment; see shiplock gate open --help/)
})

test('130: Ctrl-C ends the waiting', async () => {
  const child = startShiplock(open('--wait'), { env })
  const end = ended(child)
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  child.kill('SIGINT')
  const { code, stdout } = await end
  assert.equal(code, 130)
  assert.equal(stdout, '')
})

test('--image is what is deployed, and must be named by a report first', async () => {
  const image = `ghcr.io/acme/shop@sha256:${'d'.repeat(64)}`
  const run = newRun()
  const args = ['gate', 'open', '--environment', 'production', ...run, '--image', image, '--json']
  const unknown = await shiplock(args, { env })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /subjects\/0\/sha256/)
  assert.equal((await shiplock(['report', ...run, '--image', image], { env })).code, 0)
  const { json, stderr } = await shiplock(args, { env })
  const { body } = await api.request('GET', `/v1/deployments/${json.deployment_id}`, { key: caller.key })
  assert.deepEqual(body.data.subjects?.[0]?.sha256, 'd'.repeat(64), stderr)
})
