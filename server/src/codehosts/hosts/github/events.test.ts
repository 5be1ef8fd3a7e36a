import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { Json } from '../../../../test/support/json.ts'
import type { InstallationEvent } from '../../code-host.ts'
import type { HostEventKind, HostEvents } from '../../host-event.ts'
import { createParseDelivery } from './events.ts'

const NOW = new Date('2026-03-01T10:00:00.000Z')
const translate = createParseDelivery({ now: () => NOW })

type Payload = Record<string, Json>
type Recorded = { server: string; event: string; payload: Payload }

const SERVERS = ['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35']
const recorded: Recorded[] = SERVERS.flatMap((server) => {
  const path = createRequire(import.meta.url).resolve(`@octokit/webhooks-examples/${server}/index.json`)
  const events = JSON.parse(readFileSync(path, 'utf8')) as { name: string; examples: Payload[] }[]
  return events.flatMap(({ name, examples }) => examples.map((payload) => ({ server, event: name, payload })))
})

const KINDS: [event: string, kind: HostEventKind][] = [
  ['workflow_run', 'run'],
  ['workflow_job', 'job'],
  ['check_run', 'check'],
  ['deployment', 'deployment'],
  ['deployment_status', 'deployment_status'],
  ['deployment_protection_rule', 'gate_request'],
  ['deployment_review', 'deployment_review'],
  ['code_scanning_alert', 'alert_change'],
  ['dependabot_alert', 'alert_change'],
  ['secret_scanning_alert', 'alert_change'],
  ['pull_request', 'pull_request'],
  ['pull_request_review', 'review'],
  ['push', 'push'],
  ['repository', 'repository'],
]
const INSTALLATION_EVENTS = ['installation', 'installation_repositories']

test('every recorded payload is translated to the kind of its event', () => {
  assert.ok(recorded.length > 300)
  for (const { server, event, payload } of recorded) {
    const kind = KINDS.find(([name]) => name === event)?.[1]
    const translated = translate(event, payload)
    const found = translated.type === 'events' ? translated.events.map((one) => one.kind) : translated.type
    const expected = kind ? [kind] : INSTALLATION_EVENTS.includes(event) ? 'installation' : 'unknown'
    assert.deepEqual(found, expected, `${server} ${event} ${payload.action}`)
  }
})

/** The first recorded payload of an event that fits. */
function payloadOf(event: string, fits: (payload: Payload) => boolean = () => true): Payload {
  const found = recorded.find((one) => one.event === event && fits(one.payload))
  assert.ok(found !== undefined)
  return structuredClone(found.payload)
}

/** Its data. */
function dataOf<Kind extends HostEventKind>(
  event: string,
  kind: Kind,
  fits: (payload: Payload) => boolean = () => true,
): HostEvents[Kind] {
  return translated(event, kind, payloadOf(event, fits))
}

function translated<Kind extends HostEventKind>(event: string, kind: Kind, payload: unknown): HostEvents[Kind] {
  const result = translate(event, payload)
  assert.equal(result.type, 'events')
  const [one] = result.type === 'events' ? result.events : []
  assert.equal(one?.kind, kind)
  return one?.data as HostEvents[Kind]
}

const account = (id: string, login: string, fields = {}) => ({
  id,
  login,
  name: null,
  avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
  url: `https://github.com/${login}`,
  is_bot: false,
  ...fields,
})

test('a repository has the facts of its webhook, and the host of its web address', () => {
  assert.deepEqual(dataOf('deployment_review', 'deployment_review').repository, {
    provider: 'github',
    host: 'github.com',
    id: '616901961',
    full_name: 'terraform-test-github/sample-app',
    owner_id: '123865115',
    default_branch: 'main',
    html_url: 'https://github.com/terraform-test-github/sample-app',
    private: false,
    archived: false,
    updated_at: new Date('2023-03-21T10:38:47Z'),
  })
})

test('workflow_run becomes a run', () => {
  const { repository, ...run } = dataOf('workflow_run', 'run', (payload) => payload.action === 'requested')
  assert.equal(repository.full_name, 'octo-org/octo-repo')
  const actor = account('15669918', 'Codertocat', {
    avatar_url: 'https://avatars0.githubusercontent.com/u/15669918?v=4',
  })
  assert.deepEqual(run, {
    id: '289782451',
    number: 163,
    attempt: 1,
    workflow: { id: '2823525', name: 'test', path: '.github/workflows/test.yml' },
    status: 'queued',
    ref: 'refs/heads/master',
    head_repository_id: '300029405',
    commit: {
      sha: '3484a3fb816e0859fd6e1cea078d76385ff50625',
      message: 'build(test): check workflow run event payload',
    },
    event: 'repository_dispatch',
    kind: 'manual',
    release_name: null,
    actor,
    triggering_actor: actor,
    pull_requests: [],
    html_url: 'https://github.com/octo-org/octo-repo/actions/runs/289782451',
    created_at: new Date('2020-10-05T16:33:24Z'),
    started_at: new Date('2020-10-05T16:33:49Z'),
    completed_at: null,
    updated_at: new Date('2020-10-05T16:33:24Z'),
  })
})

/** The recorded payload of a completed run, with other fields. */
function runWith(fields: Record<string, unknown>): HostEvents['run'] {
  const payload = payloadOf('workflow_run', ({ action }) => action === 'requested')
  return translated('workflow_run', 'run', { ...payload, workflow_run: { ...payload.workflow_run, ...fields } })
}

test('an unknown action of a known event applies the whole facts that it brings', () => {
  for (const [event, kind] of [
    ['workflow_run', 'run'],
    ['pull_request', 'pull_request'],
    ['check_run', 'check'],
    ['deployment', 'deployment'],
  ] as const) {
    const payload = payloadOf(event, ({ action }) => action !== undefined)
    assert.deepEqual(
      translated(event, kind, { ...payload, action: 'frobbed' }),
      translated(event, kind, payload),
      event,
    )
  }
})

test('the branch of a run can be one of a fork; older servers do not name its repository', () => {
  assert.equal(runWith({ head_repository: { id: 7 } }).head_repository_id, '7')
  const { repository, head_repository_id } = runWith({ head_repository: undefined })
  assert.equal(head_repository_id, repository.id)
})

test('the head of a pull request from a deleted fork is not in the repository itself', () => {
  for (const event of ['pull_request', 'pull_request_target']) {
    const { repository, head_repository_id } = runWith({ event, head_repository: null })
    assert.notEqual(head_repository_id, repository.id)
  }
})

test('a completed run ends at its last change; before that it has no end', () => {
  const updated_at = '2020-10-05T17:00:00Z'
  const done = runWith({ status: 'completed', conclusion: 'success', updated_at })
  assert.deepEqual([done.status, done.completed_at], ['success', new Date(updated_at)])
  const open = runWith({ status: 'in_progress', conclusion: null, updated_at })
  assert.deepEqual([open.status, open.completed_at], ['in_progress', null])
})

test('the ref of a release is a tag, and its title is the name of the release', () => {
  const release = runWith({ event: 'release', head_branch: 'v1.2.0', display_title: 'Spring' })
  assert.deepEqual([release.ref, release.release_name, release.kind], ['refs/tags/v1.2.0', 'Spring', 'release'])
  const push = runWith({ event: 'push', head_branch: 'v1.2.0', display_title: 'Fix' })
  assert.deepEqual([push.ref, push.release_name, push.kind], ['refs/heads/v1.2.0', null, 'push'])
  assert.equal(runWith({ head_branch: null }).ref, null)
})

test('a run names the pull requests of its own repository only', () => {
  const pull = (number: number, id: number) => ({ number, base: { ref: 'main', sha: 'a', repo: { id } } })
  const own = Number(dataOf('workflow_run', 'run', ({ action }) => action === 'requested').repository.id)
  const run = runWith({ event: 'pull_request', pull_requests: [pull(3, own), pull(9, own + 1)] })
  assert.deepEqual(run.pull_requests, [{ number: 3, url: 'https://github.com/octo-org/octo-repo/pull/3' }])
})

test('a run without the actor has the sender of the event; its path has no ref; a second attempt is counted', () => {
  const run = runWith({ actor: null, triggering_actor: null, path: '.github/workflows/a.yml@main', run_attempt: 2 })
  assert.equal(run.actor?.login, 'Codertocat')
  assert.equal(run.triggering_actor?.login, 'Codertocat')
  assert.deepEqual([run.workflow.path, run.attempt], ['.github/workflows/a.yml', 2])
})

test('workflow_job becomes a job with the steps that failed', () => {
  const fits = ({ workflow_job: job }: Payload) => job.conclusion === 'failure'
  const { repository, ...job } = dataOf('workflow_job', 'job', fits)
  assert.equal(repository.full_name, 'Codertocat/Hello-World')
  assert.deepEqual(job, {
    run_id: '2202229078',
    attempt: 1,
    id: '289782451',
    name: 'linters',
    status: 'failure',
    started_at: new Date('2021-08-05T10:34:58Z'),
    completed_at: new Date('2021-08-05T10:38:16Z'),
    html_url: 'https://github.com/octo-org/octo-repo/runs/1291536064',
    runner: 'GitHub Actions 5',
    failed_steps: [{ number: 8, name: 'Run yarn run format-check' }],
  })
  const waiting = dataOf('workflow_job', 'job', ({ action }) => action === 'waiting')
  assert.deepEqual([waiting.status, waiting.started_at, waiting.completed_at], ['queued', null, null])
})

test('check_run becomes a check with the App that reports it', () => {
  const fits = ({ check_run: check }: Payload) => check.conclusion === 'failure'
  const { repository, ...check } = dataOf('check_run', 'check', fits)
  assert.equal(repository.full_name, 'Codertocat/Hello-World')
  assert.deepEqual(check, {
    commit_sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
    id: '128620228',
    name: 'Octocoders-linter',
    source: 'github-actions',
    status: 'failure',
    url: 'https://github.com/Codertocat/Hello-World/runs/128620228',
    started_at: new Date('2019-05-15T15:21:12Z'),
    completed_at: new Date('2019-05-15T15:21:12Z'),
  })
})

const ofWorkflow = (payload: Payload) => Boolean(payload.workflow_run)

test('deployment becomes a deployment with the run that deploys', () => {
  const { repository, creator, ...deployment } = dataOf('deployment', 'deployment', ofWorkflow)
  assert.equal(repository.provider, 'github')
  assert.equal(creator?.is_bot, true)
  assert.deepEqual([deployment.environment, deployment.ref, deployment.run?.attempt], ['github-pages', 'gh-pages', 1])
})

test('deployment_status becomes a state with its job and the address of its log', () => {
  const { deployment, creator, ...status } = dataOf('deployment_status', 'deployment_status', ofWorkflow)
  assert.equal(deployment.run?.attempt, 1)
  assert.equal(creator?.login, 'github-pages[bot]')
  assert.deepEqual(status, {
    id: '209916254',
    state: 'in_progress',
    environment_url: null,
    log_url: 'https://github.com/CorsixTH/CorsixTH/runs/4687056418?check_suite_focus=true',
    job_id: '128620228',
    created_at: new Date('2022-01-03T01:28:40Z'),
  })
})

const STATES: [github: string, state: string][] = [
  ['queued', 'waiting'],
  ['pending', 'waiting'],
  ['waiting', 'waiting'],
  ['in_progress', 'in_progress'],
  ['success', 'success'],
  ['failure', 'failure'],
  ['error', 'failure'],
  ['inactive', 'inactive'],
]

function statusWith(fields: object): HostEvents['deployment_status'] {
  return translated('deployment_status', 'deployment_status', statusPayload(fields))
}

function statusPayload(fields: object): object {
  const { deployment_status: status, ...rest } = payloadOf('deployment_status')
  return { ...rest, deployment_status: { ...status, ...fields } }
}

test('every state of a deployment has a word; an unknown one is not an event', () => {
  for (const [state, expected] of STATES) assert.equal(statusWith({ state }).state, expected, state)
  assert.deepEqual(translate('deployment_status', statusPayload({ state: 'melting' })), { type: 'unknown' })
})

test('the log of a deployment names its run and its job, if it is of the same repository', () => {
  const named = (log_url: string) => {
    const { job_id, deployment } = statusWith({ log_url })
    return [deployment.run?.id ?? null, job_id]
  }
  const base = 'https://github.com/Codertocat/Hello-World'
  assert.deepEqual(named(`${base}/actions/runs/12/job/345`), ['12', '345'])
  assert.deepEqual(named(`${base}/actions/runs/12/jobs/345`), ['12', '345'])
  assert.deepEqual(named(`${base}/actions/runs/12`), ['12', null])
  assert.deepEqual(named(`${base}/runs/345?check_suite_focus=true`), [null, '345'])
  assert.deepEqual(named('https://github.com/other/repo/actions/runs/12/job/345'), [null, null])
  assert.deepEqual(named('https://logs.example/Codertocat/Hello-World/actions/runs/12'), [null, null])
  assert.deepEqual(named('not an address'), [null, null])
})

const CALLBACK = 'https://api.github.com/repos/Codertocat/Hello-World/actions/runs/77/deployment_protection_rule'

test('deployment_protection_rule becomes a gate request; the callback names the run', () => {
  const { deployment, repository } = payloadOf('deployment')
  const payload = { action: 'requested', environment: 'production', deployment_callback_url: CALLBACK, repository }
  const request = translated('deployment_protection_rule', 'gate_request', { ...payload, deployment })
  assert.deepEqual(
    { ...request, repository: null, deployment: request.deployment?.id },
    {
      repository: null,
      environment: 'production',
      deployment: '145988746',
      run: { id: '77', attempt: null },
      ref: 'master',
      commit_sha: 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e',
      callback_url: CALLBACK,
      callback_secret: null,
      is_rule: true,
      requested_at: new Date('2019-05-15T15:20:53Z'),
    },
  )
  assert.deepEqual(request.deployment?.run, { id: '77', attempt: null })
  const bare = translated('deployment_protection_rule', 'gate_request', payload)
  assert.deepEqual([bare.deployment, bare.commit_sha, bare.requested_at], [null, null, NOW])
  const newer = { ...payload, ref: 'refs/heads/main', sha: 'abc' }
  const named = translated('deployment_protection_rule', 'gate_request', newer)
  assert.deepEqual([named.ref, named.commit_sha], ['refs/heads/main', 'abc'])
})

test('deployment_review becomes a request or an answer of reviewers', () => {
  const { repository, ...requested } = dataOf('deployment_review', 'deployment_review')
  assert.deepEqual(requested, {
    run: { id: '5453085689', attempt: 1 },
    environments: ['TST'],
    state: 'requested',
    reviewer: null,
    comment: null,
    at: new Date('2023-07-04T09:28:15Z'),
  })
  const { environment, workflow_job_run: job, requestor, ...rest } = payloadOf('deployment_review')
  const jobs = [job, { ...job, environment: 'PRD' }]
  const approved = { ...rest, action: 'approved', approver: requestor, comment: 'Go', workflow_job_runs: jobs }
  const answer = translated('deployment_review', 'deployment_review', approved)
  assert.deepEqual(
    [answer.state, answer.environments, answer.reviewer?.login, answer.comment],
    ['approved', ['TST', 'PRD'], 'ilmax', 'Go'],
  )
  assert.deepEqual(translate('deployment_review', { ...approved, workflow_run: null }), { type: 'unknown' })
})

test('the events of alerts only name the alert', () => {
  for (const event of ['code_scanning_alert', 'dependabot_alert', 'secret_scanning_alert']) {
    const { repository, ...alert } = dataOf(event, 'alert_change')
    assert.deepEqual(Object.keys(alert), ['type', 'number'])
    assert.equal(`${alert.type}_alert`, event)
  }
})

test('pull_request becomes a pull request; a merge that was only tried is not its merge commit', () => {
  const { repository, author, ...pull } = dataOf('pull_request', 'pull_request', ({ action }) => action === 'closed')
  assert.equal(author?.login, 'Codertocat')
  assert.deepEqual(pull, {
    number: 2,
    title: 'Update the README with new information.',
    url: 'https://github.com/Codertocat/Hello-World/pull/2',
    state: 'closed',
    draft: false,
    head: { ref: 'changes', sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821', repository_id: '186853002' },
    base: { ref: 'master', sha: 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e' },
    merge_commit_sha: null,
    merged_by: null,
    merged_by_queue: false,
    created_at: new Date('2019-05-15T15:20:33Z'),
    merged_at: null,
    closed_at: new Date('2019-05-15T15:21:18Z'),
    updated_at: new Date('2019-05-15T15:21:18Z'),
  })
  const { pull_request: object, ...rest } = payloadOf('pull_request', ({ action }) => action === 'closed')
  const head = { ...object.head, repo: null }
  const fields = { merged_at: '2019-05-15T15:20:59Z', merge_commit_sha: 'c4295bd', head }
  const merged = translated('pull_request', 'pull_request', { ...rest, pull_request: { ...object, ...fields } })
  assert.deepEqual([merged.state, merged.merge_commit_sha, merged.head.repository_id], ['merged', 'c4295bd', null])
})

test('pull_request_review becomes a review; one that was not submitted is not an event', () => {
  const { repository, reviewer, ...review } = dataOf(
    'pull_request_review',
    'review',
    ({ action }) => action === 'dismissed',
  )
  assert.equal(reviewer?.login, 'Codertocat')
  assert.deepEqual(review, {
    pull_request: 2,
    id: '237895671',
    state: 'dismissed',
    commit_sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
    submitted_at: new Date('2019-05-15T15:20:38Z'),
  })
  const payload = payloadOf('pull_request_review')
  const pending = { ...payload.review, state: 'pending', submitted_at: null }
  assert.deepEqual(translate('pull_request_review', { ...payload, review: pending }), { type: 'unknown' })
})

test('push becomes a push: zeros stand for a ref that was created or deleted', () => {
  const created = dataOf('push', 'push', ({ ref, commits }) => ref === 'refs/heads/master' && commits.length === 1)
  assert.deepEqual([created.before, created.after], [null, '6113728f27ae82c7b1a177c8d03f9e96e0adf246'])
  assert.equal(created.pusher?.login, 'Codertocat')
  assert.deepEqual(created.pushed_at, new Date(1_557_933_657_000))
  const author = { name: 'Codertocat', email: '21031067+Codertocat@users.noreply.github.com', login: 'Codertocat' }
  assert.deepEqual(created.commits, [
    {
      sha: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      message: 'Initial commit',
      author,
      committer: author,
      at: new Date('2019-05-15T15:19:25Z'),
    },
  ])
  const deleted = dataOf('push', 'push', (payload) => payload.deleted)
  assert.deepEqual([deleted.ref, deleted.after], ['refs/tags/simple-tag', null])
})

const QUEUE = { id: 118344674, login: 'github-merge-queue[bot]', type: 'Bot' }

test('only the bot of the merge queue pushes and merges as the merge queue', () => {
  const { sender, pusher, ...payload } = payloadOf('push')
  const byQueue = (fields: object) => translated('push', 'push', { ...payload, ...fields }).by_merge_queue
  assert.equal(byQueue({ sender, pusher }), false)
  assert.equal(byQueue({}), false)
  assert.equal(byQueue({ sender: QUEUE, pusher }), true)
  assert.equal(byQueue({ sender: null, pusher: { name: QUEUE.login } }), true)
  assert.equal(byQueue({ sender: { ...QUEUE, login: 'github-merge-queue' }, pusher: { name: 'merge-queue' } }), false)
  const { pull_request: object, ...rest } = payloadOf('pull_request', ({ action }) => action === 'closed')
  const merged = { ...object, merged_at: '2019-05-15T15:20:59Z', merged_by: QUEUE }
  const pull = translated('pull_request', 'pull_request', { ...rest, pull_request: merged })
  assert.deepEqual([pull.merged_by?.login, pull.merged_by_queue], [QUEUE.login, true])
})

test('merge_group says nothing that the push and the pull requests do not say', () => {
  assert.deepEqual(translate('merge_group', payloadOf('merge_group')), { type: 'unknown' })
})

test('repository becomes a change of the repository', () => {
  assert.equal(dataOf('repository', 'repository', ({ action }) => action === 'renamed').change, 'changed')
  assert.equal(dataOf('repository', 'repository', ({ action }) => action === 'deleted').change, 'deleted')
})

test('installation and installation_repositories become changes of the connection', () => {
  const changes = recorded
    .filter(({ event, server }) => INSTALLATION_EVENTS.includes(event) && server === 'api.github.com')
    .map(({ event, payload }) => {
      const result = translate(event, payload)
      const found = result.type === 'installation' ? result.event : undefined
      const { change, installation, added, removed } = found as InstallationEvent
      return `${payload.action} ${change} ${installation.suspended} +${added.length} -${removed.length}`
    })
  assert.deepEqual([...new Set(changes)].sort(), [
    'added changed false +1 -0',
    'created created false +1 -0',
    'deleted removed false +0 -0',
    'new_permissions_accepted changed false +0 -0',
    'removed changed false +0 -1',
    'suspend suspended true +0 -0',
    'unsuspend unsuspended false +0 -0',
  ])
})

const BROKEN: [title: string, event: string, change: (payload: Payload) => void, message: RegExp][] = [
  ['a missing object', 'workflow_run', (payload) => delete payload.workflow_run, /^\/workflow_run is missing$/],
  [
    'a missing field',
    'workflow_run',
    ({ workflow_run: run }) => delete run.head_sha,
    /^\/workflow_run\/head_sha is missing$/,
  ],
  ['a wrong type', 'workflow_run', ({ workflow_run: run }) => (run.id = 'x'), /^\/workflow_run\/id must be integer$/],
  [
    'a number that is not exact',
    'push',
    ({ repository }) => (repository.id = 2 ** 53),
    /^\/repository\/id must be <= /,
  ],
  [
    'a wrong time',
    'deployment',
    ({ deployment }) => (deployment.created_at = 'soon'),
    /^\/deployment\/created_at must match/,
  ],
  [
    'a wrong field of an optional object',
    'workflow_run',
    ({ workflow_run: run }) => (run.actor.id = null),
    /^\/workflow_run\/actor\/id /,
  ],
  ['no repository', 'check_run', (payload) => delete payload.repository, /^\/repository is missing$/],
]

for (const [title, event, change, message] of BROKEN) {
  test(`a payload that does not fit is refused with the field: ${title}`, () => {
    const payload = payloadOf(event, ({ action }) => event !== 'workflow_run' || action === 'requested')
    change(payload)
    assert.throws(() => translate(event, payload), { message })
  })
}

test('what is no object does not fit, and an event without meaning for us is unknown', () => {
  assert.throws(() => translate('push', 'text'), { message: 'The payload must be object' })
  assert.throws(() => translate('push', null), { message: 'The payload must be object' })
  for (const event of ['ping', 'check_suite', 'status', 'constructor', '__proto__', ''])
    assert.deepEqual(translate(event, {}), { type: 'unknown' })
})

test('additional fields do not matter, and texts lose the characters that cannot be stored', () => {
  const run = runWith({ new_field: { deep: [1] }, head_commit: { message: 'a\0b\ud800' } })
  assert.equal(run.commit.message, 'ab\ufffd')
})
