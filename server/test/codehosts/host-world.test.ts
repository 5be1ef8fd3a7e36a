import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../support/hosts/change.ts'
import { Description } from '../support/hosts/description.ts'
import { ok } from '../support/hosts/rest-request.ts'
import { startRestServer } from '../support/hosts/rest-server.ts'
import { answerRule } from '../support/hosts/stories/gates.ts'
import { Stories } from '../support/hosts/stories/stories.ts'
import { bearerOf, Tokens } from '../support/hosts/tokens.ts'
import { Trouble } from '../support/hosts/trouble.ts'
import type { Account } from '../support/hosts/types.ts'
import { Webhooks } from '../support/hosts/webhooks.ts'
import { World } from '../support/hosts/world.ts'

const DEPLOY = [{ name: 'build' }, { name: 'deploy', needs: ['build'], environment: 'production' }]

function newWorld() {
  const world = new World()
  const changes: Change[] = []
  world.onChange((change) => changes.push(change))
  const stories = new Stories(world)
  return { world, stories, changes, repository: stories.addRepository('acme/sub/shop') }
}

test('A run goes through its jobs, and a deployment waits until every gate is open', () => {
  const { world, stories, changes, repository } = newWorld()
  stories.addEnvironment(repository, 'production', { reviewers: ['grace'], ours: true })
  stories.push(repository)
  const run = stories.startRun(repository, { jobs: DEPLOY }).finish('build')
  assert.equal(run.status, 'waiting')
  stories.review(run, 'production', 'approved', 'grace')
  assert.equal(run.status, 'waiting')
  answerRule(world, run.deployment('deploy'), { state: null, comment: 'It waits' })
  answerRule(world, run.deployment('deploy'), { state: 'approved', comment: 'Go' })
  answerRule(world, run.deployment('deploy'), { state: 'rejected', comment: 'Too late' })
  run.finish('deploy')
  assert.equal(run.status, 'success')
  assert.deepEqual(
    stories.ruleAnswers.map(({ state }) => state),
    [null, 'approved', 'rejected'],
  )
  const states = changes.flatMap((change) => (change.type === 'deployment' ? [change.status.state] : []))
  assert.deepEqual(states, ['waiting', 'queued', 'in_progress', 'success'])
})

test('A second attempt runs what failed, and takes over the jobs that succeeded', () => {
  const { stories, repository } = newWorld()
  stories.push(repository)
  const run = stories.startRun(repository, { jobs: DEPLOY }).finish('build').finish('deploy', 'failure')
  const built = run.job('build')
  run.rerun('lin', { failedOnly: true })
  assert.equal(run.job('build'), built)
  assert.equal(run.job('deploy').attempt, 2)
  assert.equal(run.finish('deploy').status, 'success')
  assert.deepEqual(
    repository.deployments.map(({ attempt }) => attempt),
    [2, 1],
  )
  const skipped = stories.startRun(repository, { jobs: DEPLOY }).finish('build', 'failure')
  assert.deepEqual([skipped.status, skipped.job('deploy').conclusion], ['failure', 'skipped'])
})

for (const [method, parents] of [
  ['merge', 2],
  ['squash', 1],
  ['rebase', 1],
] as const)
  test(`A pull request that is merged by ${method} lands on its base branch`, () => {
    const { stories, repository } = newWorld()
    stories.push(repository, { files: { 'kept.ts': '1' } })
    stories.push(repository, { branch: 'cart', files: { 'cart.ts': '2' } })
    const pull = stories.openPullRequest(repository, { branch: 'cart' })
    const merged = stories.merge(repository, pull, 'grace', method)
    assert.equal(repository.refs.get('refs/heads/main'), merged.sha)
    assert.deepEqual([...merged.files.keys()], ['kept.ts', 'cart.ts'])
    assert.deepEqual([pull.state, merged.parents.length], ['merged', parents])
  })

test('Every change has a later time than the one before', () => {
  const { world } = newWorld()
  const times = Array.from({ length: 50 }, () => world.now().getTime())
  assert.deepEqual(
    times,
    [...new Set(times)].sort((one, other) => one - other),
  )
})

const DESCRIBED = new Description('test', {
  swagger: '2.0',
  paths: {
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, type: 'string' }],
      get: {
        parameters: [{ name: 'page', in: 'query', type: 'integer' }],
        responses: { 200: { description: 'The thing', schema: { $ref: '#/definitions/thing' } } },
      },
    },
  },
  definitions: { thing: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
})

/** A host whose answers are the bodies that a test sets. */
async function startHost() {
  const { world, stories } = newWorld()
  const tokens = new Tokens('test-')
  const trouble = new Trouble()
  const server = await startRestServer()
  const shown: { body: object } = { body: { name: 'shop' } }
  server.serve<Account>({
    routes: { 'GET /things/{id}': () => ok(shown.body) },
    pages: { 'GET /things/{id}': 'https://host.example/reference/things' },
    trouble,
    violations: world.violations,
    authenticate: ({ headers }) => tokens.ownerOf(bearerOf(headers.authorization)),
    errorBody: (_, message) => ({ message }),
    description: DESCRIBED,
  })
  const acme = world.organization('acme')
  let token = tokens.issue(acme).value
  const read = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
  const rotate = () => {
    token = tokens.issue(acme).value
  }
  return { world, stories, tokens, trouble, server, shown, acme, read, rotate }
}

test('Requests and answers that do not fit the description are remembered', async (t) => {
  const { world, server, shown, read } = await startHost()
  t.after(() => server.close())
  assert.equal((await read('/things/7?page=2')).status, 200)
  assert.deepEqual(world.violations, [])
  assert.equal((await read('/things/7?page=two')).status, 501)
  assert.equal((await read('/things/7?size=2')).status, 501)
  assert.equal((await read('/others')).status, 501)
  shown.body = { title: 'shop' }
  await read('/things/7')
  assert.deepEqual(
    world.violations.map((text: string) => text.slice(0, 40)),
    [
      'GET /things/{id}: query parameter page=two',
      'GET /things/{id}: unknown query parameter size',
      'GET /others is not known to the fake',
      "GET /things/{id}: answer 200 body must have required property 'name'",
    ].map((text) => text.slice(0, 40)),
  )
})

test('A fake answers nothing of which it names no page of the host', async (t) => {
  const { server, trouble } = await startHost()
  t.after(() => server.close())
  const api = { trouble, violations: [], authenticate: () => null, errorBody: () => null }
  const routes = { 'GET /things': () => ok([]) }
  assert.throws(() => server.serve({ ...api, routes, pages: {} }), /GET \/things/)
  const pages = { 'GET /things': 'https://host.example/things', 'GET /gone': 'https://host.example/gone' }
  assert.throws(() => server.serve({ ...api, routes, pages }), /GET \/gone/)
})

test('A host can be down, limit requests, cut answers and revoke credentials', async (t) => {
  const { trouble, tokens, server, acme, read, rotate } = await startHost()
  t.after(() => server.close())
  const { headers } = await read('/things/7')
  assert.equal((await read('/things/7', { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  Object.assign(trouble, { limited: 1, retryAfterSeconds: 7 })
  const limited = await read('/things/7')
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '7'])
  trouble.cutAnswers = 1
  await assert.rejects(async () => (await read('/things/7')).text())
  trouble.down = 'error'
  assert.equal((await read('/things/7')).status, 503)
  trouble.down = 'refuse'
  await assert.rejects(read('/things/7'))
  trouble.down = null
  rotate()
  tokens.revokeOlder(acme)
  assert.equal((await read('/things/7')).status, 200)
  tokens.revoke(acme)
  assert.equal((await read('/things/7')).status, 401)
})

test('Webhooks get the events that they want, signed with their secret at that time', async (t) => {
  const { world, server, trouble } = await startHost()
  t.after(() => server.close())
  trouble.down = 'refuse'
  const webhooks = new Webhooks(world, ({ hook }) => ({ 'x-secret': hook.secret }))
  const about = { url: `${server.url}/hooks`, secret: 'one', events: ['push'] }
  const hook = webhooks.addHook({ ...about, scope: 'group 1' })
  webhooks.addHook({ ...about, scope: 'group 2' })
  webhooks.emit('push', ['group 1', 'project 3'], { ref: 'main' })
  webhooks.emit('issue', ['group 1'], {})
  await webhooks.settled()
  assert.deepEqual(
    webhooks.all.map(({ event, hook: to, tries }) => [event, to, tries.map(({ statusCode }) => statusCode)]),
    [['push', hook, [502]]],
  )
  assert.equal(webhooks.failed.length, 1)
  webhooks.removeHook(hook)
  webhooks.emit('push', ['group 1'], {})
  assert.equal(webhooks.all.length, 1)
})
