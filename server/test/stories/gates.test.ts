import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { RunStory } from '../support/hosts/stories/run-story.ts'
import type { EnvironmentRules, Repository } from '../support/hosts/types.ts'
import type { Json } from '../support/json.ts'
import { runProgram } from '../support/program.ts'
import { assertNothingFailed, nextSecond, REASON } from '../support/stories.ts'

const DEPLOY = [{ name: 'deploy', environment: 'production' }]

let server: ConnectedServer

before(async () => {
  server = await startConnectedServer()
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
})
after(() => server?.close())

/** A repository whose environment `production` has our rule. */
function addRepository(name: string, rules: EnvironmentRules = {}): Repository {
  const repository = server.fake.addRepository(`acme/${name}`)
  server.fake.addEnvironment(repository, 'production', { ours: true, ...rules })
  return repository
}

function startDeployment(repository: Repository, sha?: string): RunStory {
  return server.fake.startRun(repository, { jobs: DEPLOY, ...(sha !== undefined && { sha }) })
}

const idOf = (story: RunStory) => `gh_deployment_${story.deployment('deploy').id}`

async function show(story: RunStory): Promise<Json> {
  await server.settled()
  return server.get(`/v1/deployments/${idOf(story)}`)
}

function answer(story: RunStory, verb: 'approve' | 'reject', key?: string) {
  return server.post(`/v1/deployments/${idOf(story)}/${verb}`, { reason: REASON }, key)
}

function statesOf(story: RunStory): (string | null)[] {
  return server.fake.ruleAnswers.filter(({ run_id }) => run_id === story.id).map(({ state }) => state)
}

function lastComment(story: RunStory): string {
  return server.fake.ruleAnswers.findLast(({ run_id }) => run_id === story.id)?.comment ?? ''
}

async function doctor(): Promise<Json> {
  const { json } = await runProgram(server.dataDir, ['doctor', '--json'])
  return json.find(({ check }: Json) => check === 'gates')
}

test('an uncovered environment waits for a person, is named by doctor, and a later gate covers what comes after it', async () => {
  const { fake } = server
  const repository = addRepository('uncovered')
  fake.addEnvironment(repository, 'preview', { ours: true })
  fake.push(repository)
  const story = fake.startRun(repository, { jobs: [{ name: 'deploy', environment: 'preview' }] })
  const { status, custom_rule_awaiting } = await show(story)
  assert.deepEqual([status, custom_rule_awaiting], ['pending_approval', 'manual_decision_required'])
  const refused = await answer(story, 'approve')
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'gate_not_configured'])
  assert.match(lastComment(story), /No gate covers the environment preview/)
  assert.match((await doctor()).detail, /no gate covers preview of acme\/uncovered/)
  await server.command(
    'gate',
    'create',
    '--org',
    'default',
    '--name',
    'Preview',
    '--environment',
    'preview',
    '--allow-api-keys',
  )
  await server.settled()
  assert.equal((await doctor()).ok, true)
  // What has waited without a gate is left to people: a new gate is no way around them.
  assert.equal((await answer(story, 'approve')).status, 409)
  const next = fake.startRun(repository, { jobs: [{ name: 'deploy', environment: 'preview' }] })
  assert.equal((await show(next)).status, 'pending_approval')
  assert.equal((await answer(next, 'approve')).status, 200)
  await server.settled()
  next.finish('deploy')
  assert.equal((await show(next)).status, 'success')
  await assertNothingFailed(server)
})

test('a request of our rule that GitHub never sent is found with the next event, and is answered as others', async () => {
  const { fake } = server
  const repository = addRepository('unasked')
  fake.push(repository)
  fake.webhooks.forgotten.add('deployment_protection_rule')
  const story = startDeployment(repository)
  const { status, custom_rule_state, gated } = await show(story)
  fake.webhooks.forgotten.clear()
  assert.deepEqual([status, custom_rule_state, gated], ['pending_approval', 'pending', true])
  assert.equal((await answer(story, 'approve')).status, 200)
  await server.settled()
  assert.equal(statesOf(story).at(-1), 'approved')
  story.finish('deploy')
  assert.equal((await show(story)).status, 'success')
  await assertNothingFailed(server)
})

const PATH = '.shiplock/policies/release.yaml'
const policy = (expression: string) => `name: release
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: message
    name: The commit is announced
    expression: '${expression}'
    reason: The commit is not announced.
`

async function statusesOf(repository: Repository): Promise<[string, string | null][]> {
  await server.settled()
  return repository.statuses.map(({ state, description }) => [state, description])
}

test('policies arrive by push and only block; a broken file is reported and keeps the last good version', async () => {
  const repository = addRepository('policies')
  const { fake } = server
  fake.push(repository, { files: { [PATH]: policy('true') } })
  assert.deepEqual(await statusesOf(repository), [['success', '1 policy is valid']])
  await nextSecond(server)
  fake.push(repository, { files: { [PATH]: 'name: release\nmode: strict\n' } })
  const statuses = await statusesOf(repository)
  assert.deepEqual(statuses.map(([state]) => state).sort(), ['failure', 'success'])
  const listed: Json[] = await server.command('policy', 'list', '--org', 'default')
  assert.deepEqual(
    listed
      .filter(({ repository: name }) => name === 'acme/policies')
      .map(({ name, version, path }) => [name, version, path]),
    [['release', 1, PATH]],
  )

  const story = startDeployment(repository)
  const waiting = await show(story)
  assert.deepEqual([waiting.status, waiting.policy_evaluation.decision], ['pending_approval', 'none'])
  assert.match(lastComment(story), /The gate Production needs an approval/)
  assert.equal((await answer(story, 'approve')).status, 200)
  await server.settled()
  assert.deepEqual(statesOf(story).at(-1), 'approved')
  story.finish('deploy')
  assert.equal((await show(story)).status, 'success')
  await assertNothingFailed(server)
})

test('a blocking policy keeps a deployment waiting and says why; an override needs its scope', async () => {
  const repository = addRepository('blocked')
  const { fake } = server
  fake.push(repository, { files: { [PATH]: policy('false') } })
  await server.settled()
  const story = startDeployment(repository)
  const blocked = await show(story)
  assert.deepEqual([blocked.status, blocked.policy_evaluation.decision], ['pending_approval', 'block'])
  assert.deepEqual(statesOf(story), [null])
  assert.match(lastComment(story), /The policy release blocks it: The commit is not announced\./)
  const scopes = ['--scope', 'read:deployments', '--scope', 'write:deployments']
  const { key } = await server.command('key', 'create', '--org', 'default', '--name', 'limited', ...scopes)
  const refused = await answer(story, 'approve', key)
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.details.requiredScope],
    [403, 'insufficient_scope', 'write:compliance-override'],
  )
  assert.equal((await answer(story, 'approve')).status, 200)
  await server.settled()
  story.finish('deploy')
  const { status, override, bypass } = await show(story)
  assert.deepEqual([status, bypass, override.reason], ['success', null, REASON])
  assert.deepEqual(
    override.policies.map(({ name }: Json) => name),
    ['release'],
  )
  assert.equal(lastComment(story).includes(REASON), true)
  await assertNothingFailed(server)
})
