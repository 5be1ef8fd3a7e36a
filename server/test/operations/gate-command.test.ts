import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../support/json.ts'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running
let key: string

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-gates-'))
  running = await startProgram(dataDir)
  key = running.ready.key.key
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, args)
const refused = (code: number, line: RegExp, ...args: string[]) => assertRefused(dataDir, code, line, args)

async function call(method: string, path: string, body: object, as = key): Promise<{ status: number; body: Json }> {
  const response = await fetch(running.ready.url + path, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const create = (...args: string[]) => ['gate', 'create', '--org', 'default', ...args]

test('gate create, list and delete print gates', async () => {
  const all = ['--repository', 'acme/*', '--branch', 'release/**', '--approvals', '2', '--allow-api-keys']
  const lax = ['--allow-run-creator', '--require-linked-accounts']
  const created = await json(
    ...create('--name', 'EU', '--environment', 'eu-*', ...all, ...lax, '--policy', 'tested', '--policy', 'scanned'),
  )
  const { id, created_at, updated_at, ...rest } = created
  assert.equal(updated_at, created_at)
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.ok(Date.parse(created_at))
  assert.deepEqual(rest, {
    name: 'EU',
    environment: 'eu-*',
    repository: 'acme/*',
    branch: 'release/**',
    required_approvals: 2,
    allow_api_keys: true,
    allow_run_creator: true,
    require_linked_accounts: true,
    policies: ['tested', 'scanned'],
    approve_by_policies: true,
    version: 1,
  })
  assert.deepEqual(await json('gate', 'list', '--org', 'default'), [created])
  assert.deepEqual(await json('gate', 'delete', id), { id, name: 'EU' })
  assert.deepEqual(await json('gate', 'list', '--org', 'default'), [])
  await refused(1, /^The gate does not exist/m, 'gate', 'delete', id)
})

test('by default, a gate covers every repository and branch and requires one approval by a person', async () => {
  const {
    id,
    created_at: _,
    updated_at: __,
    ...gate
  } = await json(
    ...create(
      '--name',
      'plain',
      '--environment',
      'qa',
      '--refuse-run-creator',
      '--policy',
      'x',
      '--no-approve-by-policies',
    ),
  )
  const covers = { environment: 'qa', repository: null, branch: null }
  const asks = {
    required_approvals: 1,
    allow_api_keys: false,
    allow_run_creator: false,
    require_linked_accounts: false,
    version: 1,
  }
  assert.deepEqual(gate, { name: 'plain', ...covers, ...asks, policies: ['x'], approve_by_policies: false })
  await json('gate', 'delete', id)
})

test('a mistake is reported in one line', async () => {
  await refused(2, /^--environment GLOB is missing/m, ...create('--name', 'x'))
  await refused(
    2,
    /^--approvals must be an integer from 1 to 20, not "0"/m,
    ...create('--name', 'x', '--environment', 'x', '--approvals', '0'),
  )
  await refused(2, /does not take an argument/m, ...create('--name', 'x', '--environment', 'x', '--allow-api-keys=no'))
  await refused(2, /^The environment is not a valid pattern: /m, ...create('--name', 'x', '--environment', '(a+)+*'))
  await refused(1, /^Organization "nobody" does not exist/m, 'gate', 'list', '--org', 'nobody')
  await refused(2, /is not a gate id/m, 'gate', 'delete', 'x')
  const { id } = await json(...create('--name', 'taken', '--environment', 'x'))
  await refused(1, /^A gate named "taken" already exists/m, ...create('--name', 'taken', '--environment', 'y'))
  await json('gate', 'delete', id)
})

test('a created gate blocks deployments on the running server at once, until a key approves them', async () => {
  const { id } = await json(...create('--name', 'Production', '--environment', 'prod*', '--allow-api-keys'))
  const run = await call('POST', '/v1/ci/runs', {
    ci_system: 'jenkins',
    external_run_id: 'shop/1',
    repository: 'https://github.com/acme/shop.git',
    commit_sha: '8c5f0e1d2b3a49586776655443322110ffeeddcc',
    pipeline_name: 'deploy',
  })
  const opened = await call('POST', '/v1/ci/gates', { run_id: run.body.data.id, environment: 'production' })
  const { gate, gate_id, deployment_id, poll_token } = opened.body.data
  assert.deepEqual([opened.status, gate], [201, { id, name: 'Production' }])
  const poll = fetch(`${running.ready.url}/v1/ci/gates/${gate_id}`, {
    headers: { authorization: `Bearer ${poll_token}`, prefer: 'wait=20' },
  })
  const answer = (as: string) =>
    call('POST', `/v1/deployments/${deployment_id}/approve`, { reason: 'It is a good day.' }, as)
  assert.equal((await answer(key)).body.error.details.reason, 'WRITE_CI')
  const scope = ['--scope', 'write:deployments']
  const approver = await json('key', 'create', '--org', 'default', '--name', 'approver', ...scope)
  const approved = await answer(approver.key)
  assert.deepEqual(approved.body, { data: { approved: true, status: 'approved' } })
  assert.equal(((await (await poll).json()) as Json).data.decision, 'approved')
})

test('a run that fails has its gate cancelled by the worker', async () => {
  const run = await call('POST', '/v1/ci/runs', {
    ci_system: 'jenkins',
    external_run_id: 'shop/2',
    repository: 'https://github.com/acme/shop.git',
    commit_sha: '8c5f0e1d2b3a49586776655443322110ffeeddcc',
    pipeline_name: 'deploy',
  })
  const run_id = run.body.data.id
  const { gate_id, poll_token } = (await call('POST', '/v1/ci/gates', { run_id, environment: 'production' })).body.data
  const polled = fetch(`${running.ready.url}/v1/ci/gates/${gate_id}`, {
    headers: { authorization: `Bearer ${poll_token}`, prefer: 'wait=20' },
  })
  await call('PATCH', `/v1/ci/runs/${run_id}`, { status: 'failure' })
  const { data } = (await (await polled).json()) as Json
  assert.deepEqual([data.status, data.decision], ['cancelled', 'rejected'])
})
