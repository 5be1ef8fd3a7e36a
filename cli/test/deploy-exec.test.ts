import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { approverOf, configureGate } from '../../server/test/support/gates.ts'
import { ended, shiplock, startShiplock } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'
import { startServer } from './support/server.ts'

const { api, caller, env } = await startServer()
await configureGate(api, caller)
const REASON = 'Release 1.2 was announced for today.'
let runs = 0

const args = (...command: string[]) => [
  ...[
    'deploy',
    'exec',
    '--environment',
    'production',
    '--repository',
    'github.com/acme/shop',
    '--commit',
    'a'.repeat(40),
  ],
  ...['--ci-system', 'test', '--external-run-id', `deploy-${++runs}`, '--', ...command],
]

async function newest() {
  const { body } = await api.request('GET', '/v1/deployments?limit=1', { key: caller.key })
  return body.data[0]
}

/** Starts the command, and answers its gate once it waits. */
async function startAnswered(command: string[], verb: 'approve' | 'reject' = 'approve') {
  const child = startShiplock(args(...command), { env })
  const end = ended(child)
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  const { id } = await newest()
  const { key } = await approverOf(api, caller)
  const { status } = await api.request('POST', `/v1/deployments/${id}/${verb}`, { key, body: { reason: REASON } })
  assert.equal(status, 200)
  return { child, end, id }
}

const statusOf = async (id: string) =>
  (await api.request('GET', `/v1/deployments/${id}`, { key: caller.key })).body.data

for (const [code, status] of [
  [0, 'success'],
  [42, 'failure'],
] as const) {
  test(`${code}: waits for the approval, runs the command, and reports ${status}`, async () => {
    const { end, id } = await startAnswered(['sh', '-c', `echo "$SHIPLOCK_RUN"; exit ${code}`])
    const { code: exitCode, stdout, stderr } = await end
    assert.equal(exitCode, code, stderr)
    assert.match(stdout, /^run_\w+\n$/)
    assert.match(stderr, new RegExp(`The id of the deployment is ${id}\\n`))
    assert.match(stderr, new RegExp(`The deployment has ended: ${status}\\.\\n$`))
    const deployment = await statusOf(id)
    assert.equal(deployment.status, status)
    assert.deepEqual(
      deployment.marks.map((mark: { status: string }) => mark.status),
      ['in_progress', status],
    )
  })
}

test('3: a rejected gate, and the command does not run', async () => {
  const { end, id } = await startAnswered(['echo', 'deployed'], 'reject')
  const { code, stdout } = await end
  assert.deepEqual([code, stdout, (await statusOf(id)).status], [3, '', 'rejected'])
})

test('130: Ctrl-C while the gate waits cancels the deployment', async () => {
  const child = startShiplock(args('echo', 'deployed'), { env })
  const end = ended(child)
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  child.kill('SIGINT')
  const { code, stdout, stderr } = await end
  assert.deepEqual([code, stdout], [130, ''], stderr)
  assert.equal((await newest()).status, 'cancelled')
})

test('SIGTERM is passed on to the command, and the deployment is cancelled', async () => {
  const { child, end, id } = await startAnswered([
    'sh',
    '-c',
    "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done",
  ])
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  assert.equal((await statusOf(id)).status, 'in_progress')
  child.kill('SIGTERM')
  const { code, stderr } = await end
  assert.equal(code, 7, stderr)
  assert.equal((await statusOf(id)).status, 'cancelled')
})

test('the exit code is that of the command if the end cannot be reported, with a warning', async () => {
  const server = await startScriptedServer(({ method, path }, response) => {
    const run = {
      id: 'run_1',
      attempt: 1,
      provider: 'other',
      repository: 'github.com/acme/shop',
      commit_sha: 'a'.repeat(40),
    }
    const gate = {
      gate_id: 'g',
      deployment_id: 'dep_1',
      decision: 'approved',
      status: 'decided',
      environment: 'production',
      decided_by: 'policy',
      note: null,
    }
    if (method === 'POST' && path === '/v1/ci/runs') sendJson(response, 201, { data: run })
    else if (method === 'POST' && path === '/v1/ci/gates') sendJson(response, 201, { data: gate })
    else sendJson(response, 404, { error: { code: 'not_found', message: 'There is no such route.', details: {} } })
  })
  const { code, stdout, stderr } = await shiplock(args('sh', '-c', 'echo deployed; exit 5'), {
    env: { SHIPLOCK_URL: server.url, SHIPLOCK_KEY: caller.key },
  })
  assert.deepEqual([code, stdout], [5, 'deployed\n'], stderr)
  assert.match(stderr, /shiplock: The deployment is not reported as failure: .*\(404 not_found\)/)
})

test('2: no command, no environment', async () => {
  const { code, stderr } = await shiplock(['deploy', 'exec', '--', 'true'], { env })
  assert.equal(code, 2)
  assert.match(stderr, /Give the environment with --environment/)
})
