import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Connected, type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { Repository } from '../support/github/types.ts'
import type { Delivery, ReleaseOptions } from '../support/github/webhooks/deliveries.ts'
import type { Json } from '../support/json.ts'
import { assertNothingFailed, BUILD_AND_DEPLOY, mergeChange, nextSecond } from '../support/stories.ts'

let server: ConnectedServer
/** The answers about a repository whose deliveries arrived once and in order. */
let expected: Json
let accounts = 0

before(async () => {
  server = await startConnectedServer()
  const { connected, repository } = await play({})
  expected = await answersOf(connected, repository)
})
after(() => server?.close())

/** Plays the long story in an account of its own, whose deliveries are held and then released. */
async function play(release: ReleaseOptions): Promise<{ connected: Connected; repository: Repository }> {
  const { fake } = server
  accounts += 1
  const repository = fake.addRepository(`org${accounts}/shop`)
  fake.addEnvironment(repository, 'production', { reviewers: ['grace'] })
  const connected = await server.connect(`org${accounts}`)
  fake.webhooks.hold()
  await live(repository)
  await fake.webhooks.release(release)
  await server.settled()
  return { connected, repository }
}

/** Two changes go to production, the second one by a second attempt; an alert is fixed, another one dismissed. */
async function live(repository: Repository): Promise<void> {
  const { fake } = server
  mergeChange(fake, repository)
  const injection = fake.openAlert(repository, { type: 'code_scanning' })
  const outdated = fake.openAlert(repository, { type: 'dependabot' })
  const first = fake.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  fake.review(first, 'production', 'approved', 'grace', 'Go')
  first.finish('deploy')
  await nextSecond(server)
  fake.push(repository, { message: 'Fix the cart again' })
  fake.fixAlert(injection)
  fake.dismissAlert(outdated, 'not_used', { by: 'grace', comment: 'Unused' })
  const second = fake.startRun(repository, { jobs: BUILD_AND_DEPLOY })
  second.finish('Compile it', 'failure', { log: 'error TS2322: Type error\n' })
  await nextSecond(server)
  second.rerun('lin').finish('Compile it')
  fake.review(second, 'production', 'approved', 'grace', 'Go again')
  second.finish('deploy')
  const rejected = fake.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  fake.review(rejected, 'production', 'rejected', 'grace', 'No')
}

/** What the API answers about the repository, without ids and times, which differ from story to story. */
async function answersOf({ installation }: Connected, repository: Repository): Promise<Json> {
  const { login } = installation.account
  const own = (rows: Json[], field: string) => rows.filter((row) => row[field] === `${login}/shop`)
  const runs = own(await server.get('/v1/runs?limit=100'), 'repository_full_name')
  const deployments = await server.get(`/v1/deployments?limit=100&repository=${login}/shop`)
  const alerts = byType(own(await server.get('/v1/security/alerts?limit=100'), 'repository'))
  const findings = byType(await server.get(`/v1/security/findings?limit=100&repository=${login}/shop`))
  return neutral({ runs, deployments, alerts, findings }, namesOf(login, repository))
}

/** We store alerts in the order in which they arrive. */
function byType(rows: Json[]): Json[] {
  return rows.toSorted((one, other) => one.type.localeCompare(other.type))
}

/** Words that stand for what differs: ids in the order in which the fake gave them, commits, names. */
function namesOf(login: string, repository: Repository): [string, string][] {
  const commits = [...repository.commits.keys()].map((sha, index): [string, string] => [sha, `commit ${index}`])
  const runs = repository.runs.toReversed()
  const jobs = runs.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.jobs))
  const ids = [
    repository.id,
    repository.owner.id,
    ...[...repository.workflows.values()].map(({ id }) => id),
    ...runs.map(({ id }) => id),
    ...jobs.map(({ id }) => id),
    ...repository.deployments.map(({ id }) => id).toReversed(),
  ]
  return [...commits, ...ids.map((id, index): [string, string] => [String(id), `id ${index}`]), [login, 'owner']]
}

const TIME = /^\d{4}-\d\d-\d\dT/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/

function neutral(value: Json, names: [string, string][]): Json {
  if (Array.isArray(value)) return value.map((item) => neutral(item, names))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'importance_score' && name !== 'anomaly_reasons' && name !== 'duration_seconds')
        .map(([name, field]) => [name, neutral(field as Json, names)]),
    )
  if (typeof value === 'number') return names.find(([id]) => id === String(value))?.[1] ?? value
  if (typeof value !== 'string') return value
  if (TIME.test(value)) return 'a time'
  if (UUID.test(value)) return 'an id'
  // The year of a CVE id is no id of the fake.
  return names.reduce((text, [from, to]) => text.replaceAll(new RegExp(`(?<![\\d-])${from}(?![\\d-])`, 'g'), to), value)
}

/** `runs.0.status: "success"` */
function linesOf(value: Json, path = ''): string[] {
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0)
    return [`${path}: ${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, field]) =>
    linesOf(field as Json, path === '' ? name : `${path}.${name}`),
  )
}

async function assertSame({ connected, repository }: Awaited<ReturnType<typeof play>>): Promise<void> {
  const [actual, wanted] = [linesOf(await answersOf(connected, repository)), linesOf(expected)]
  const added = actual.filter((line) => !wanted.includes(line))
  const missing = wanted.filter((line) => !actual.includes(line))
  assert.deepEqual({ added, missing }, { added: [], missing: [] })
  await assertNothingFailed(server)
}

test('the story in order shows what happened', () => {
  const { runs, deployments, alerts, findings } = expected
  assert.deepEqual(
    runs.map(({ status, run_attempt }: Json) => [status, run_attempt]),
    [
      ['failure', 1],
      ['success', 2],
      ['success', 1],
      ['success', 1],
    ],
  )
  assert.deepEqual(
    deployments.map(({ status, attempt, superseded_by_id }: Json) => [status, attempt, superseded_by_id !== null]),
    [
      ['rejected', 1, false],
      ['success', 2, false],
      ['success', 1, true],
    ],
  )
  assert.deepEqual(alerts.map(({ type, status }: Json) => [type, status]).sort(), [
    ['code_scanning', 'fixed'],
    ['dependabot', 'dismissed'],
  ])
  assert.deepEqual(findings.map(({ state }: Json) => state).sort(), ['dismissed', 'fixed'])
})

test('every delivery two times is the same as once', async () => {
  await assertSame(await play({ twice: true }))
})

for (const seed of [1, 2])
  test(`deliveries in another order are the same (seed ${seed})`, async () => {
    await assertSame(await play({ shuffle: seed, together: seed === 2 }))
  })

test('what half of the deliveries did not report is found by a synchronization', async () => {
  const played = await play({ shuffle: 4, lose: 0.5 })
  // GitHub no longer knows what it could not deliver: the lists have to show it.
  const lost = failedDeliveries()
  assert.ok(lost.length > 20)
  for (const { tries } of lost) tries.length = 0
  await server.command('provider', 'sync', played.connected.connection.id, '--wait')
  await server.settled()
  await assertSame(played)
})

function failedDeliveries(): Delivery[] {
  const { deliveries } = server.fake
  return deliveries.filter(({ tries }) => tries.length > 0 && tries.every(({ statusCode }) => statusCode !== 202))
}

test('failed deliveries are asked for again', async () => {
  const played = await play({ lose: 0.04, seed: 6 })
  assert.notEqual(failedDeliveries().length, 0)
  await server.command('provider', 'sync', played.connected.connection.id, '--wait')
  await server.settled()
  assert.deepEqual(failedDeliveries(), [])
  await assertSame(played)
})

/** A deployment that waits for our rule and for a reviewer, without ids and times. */
async function hold(release: ReleaseOptions): Promise<{ lines: string[]; comments: number }> {
  const { fake } = server
  accounts += 1
  const login = `org${accounts}`
  const repository = fake.addRepository(`${login}/shop`)
  fake.addEnvironment(repository, 'production', { reviewers: ['grace'], customRules: ['ours'] })
  const connected = await server.connect(login)
  fake.webhooks.hold()
  fake.push(repository)
  const story = fake.startRun(repository, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  await fake.webhooks.release(release)
  if (failedDeliveries().length > 0) await server.command('provider', 'sync', connected.connection.id)
  await server.settled()
  const answers = fake.ruleAnswers.filter(({ run_id }) => run_id === story.id)
  return { lines: linesOf(await answersOf(connected, repository)), comments: answers.length }
}

test('a deployment that waits for our rule is the same in any order, and gets one comment', async () => {
  const inOrder = await hold({})
  assert.equal(inOrder.comments, 1)
  assert.ok(inOrder.lines.includes('deployments.0.custom_rule_state: "pending"'))
  for (const release of [
    { shuffle: 7, twice: true },
    { shuffle: 8, lose: 0.3 },
  ])
    assert.deepEqual(await hold(release), inOrder)
  await assertNothingFailed(server)
})

test('an import of the history shows the same as the webhooks', async () => {
  const { fake } = server
  accounts += 1
  const login = `org${accounts}`
  const repository = fake.addRepository(`${login}/shop`)
  fake.addEnvironment(repository, 'production', { reviewers: ['grace'] })
  const empty = fake.addRepository(`${login}/empty`)
  await live(repository)
  assert.equal(
    fake.deliveries.some(({ repository_id }) => repository_id === repository.id),
    false,
  )
  const connected = await server.connect(login)
  assert.equal(empty.runs.length, 0)
  await assertSame({ connected, repository })
  const [listed] = (await server.command('provider', 'list')).filter(({ id }: Json) => id === connected.connection.id)
  assert.deepEqual(listed.sync, { state: 'idle', phase: null, done: null, total: null, error: null })
  assert.notEqual(listed.last_synced_at, null)
})
