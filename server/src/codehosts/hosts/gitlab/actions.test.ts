import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Edition } from '../../../../test/support/gitlab/gitlab.ts'
import { type OpenGitlab, openGitlab } from '../../../../test/support/gitlab/open-host.ts'
import type { RunStory } from '../../../../test/support/hosts/stories/run-story.ts'
import { type HostAction, HostRefusal } from '../../code-host.ts'
import type { DecisionTarget } from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'

const opened = new Map<Edition, OpenGitlab>()
before(async () => {
  for (const edition of ['free', 'ultimate'] as const) opened.set(edition, await openGitlab({ edition }))
})
after(async () => {
  for (const { fake } of opened.values()) await fake.close()
})

let projects = 0

/** A pipeline whose deployment waits for us: for our approval, or as a manual job. */
async function waiting(edition: Edition) {
  const open = opened.get(edition) as OpenGitlab
  projects += 1
  const { project, repository } = await open.addProject(`shop-${projects}`)
  const { stories } = open.fake
  stories.addEnvironment(project, 'production', { ours: true })
  stories.push(project)
  const story = stories.startRun(project, { jobs: [{ name: 'deploy', environment: 'production' }] }) as RunStory
  const deployment = story.deployment('deploy')
  const found = await open.client.readDeployment(repository, String(deployment.id))
  const [request] = found === null ? [] : await open.client.listGateRequests(found)
  if (request === undefined) throw new Error('The deployment does not wait')
  const target: DecisionTarget = {
    repository,
    environment: 'production',
    run_id: String(story.id),
    callback_url: request.callback_url,
    callback_secret: null,
  }
  return { ...open, project, repository, story, request, target, notes: () => project.comments.map(({ text }) => text) }
}

const decide = (target: DecisionTarget, decision: 'approved' | 'rejected'): HostAction => ({
  type: 'decision',
  target,
  decision,
  text: `Decided: ${decision}`,
})

test('our approval lets a blocked deployment go on; repeating it changes nothing', async () => {
  const { client, fake, story, request, target } = await waiting('ultimate')
  assert.equal(request.is_rule, true)
  await client.act(decide(target, 'approved'))
  await client.act(decide(target, 'approved'))
  const answers = fake.stories.ruleAnswers.filter(({ run_id }) => run_id === story.id)
  assert.deepEqual(
    answers.map(({ state, comment }) => [state, comment]),
    [['approved', 'Decided: approved']],
  )
  await assert.rejects(client.act(decide(target, 'rejected')), HostRefusal)
  story.finish('deploy')
  assert.deepEqual(fake.violations, [])
})

test('a text that is too long for an approval is a note as a whole', async () => {
  const { client, fake, story, target, notes } = await waiting('ultimate')
  const text = 'Because. '.repeat(40)
  for (const _ of [1, 2]) await client.act({ type: 'decision', target, decision: 'approved', text })
  const [answer] = fake.stories.ruleAnswers.filter(({ run_id }) => run_id === story.id)
  assert.deepEqual([answer?.comment?.length, notes()], [255, [text]])
})

test('our rejection ends the job', async () => {
  const { client, story, target } = await waiting('ultimate')
  await client.act(decide(target, 'rejected'))
  await client.act(decide(target, 'rejected'))
  assert.equal(story.status, 'failure')
})

test('without approvals, our approval starts the manual job and says why, once', async () => {
  const { client, fake, story, request, target, notes } = await waiting('free')
  assert.equal(request.is_rule, false)
  await client.act(decide(target, 'approved'))
  await client.act(decide(target, 'approved'))
  assert.deepEqual(notes(), ['Decided: approved'])
  story.finish('deploy')
  assert.equal(story.status, 'success')
  assert.deepEqual(fake.violations, [])
})

test('without approvals, our rejection leaves the manual job as it is, and says why', async () => {
  const { client, story, target, notes } = await waiting('free')
  await client.act(decide(target, 'rejected'))
  assert.deepEqual(notes(), ['Decided: rejected'])
  assert.equal(story.job('deploy').status, 'waiting')
})

test('our token goes to no other address, nor to another project', async () => {
  const { client, fake, target } = await waiting('ultimate')
  const before = fake.requests.length
  for (const callback_url of [null, 'http://127.0.0.1:1/', `${target.callback_url}/x`])
    await assert.rejects(client.act(decide({ ...target, callback_url }, 'approved')), { status: 409 })
  assert.equal(fake.requests.length, before)
  const elsewhere = (target.callback_url as string).replace(/^.*\/projects\/\d+/, 'http://127.0.0.1:1/projects/1')
  await client.act(decide({ ...target, callback_url: elsewhere }, 'approved'))
  const sent = fake.requests.slice(before).filter((request) => request.startsWith('POST'))
  assert.deepEqual(
    sent.map((request) => request.split('/').slice(0, 6).join('/')),
    ['deployments', 'jobs'].map((kind) => `POST /api/v4/projects/${target.repository.id}/${kind}`),
  )
})

test('a comment is a note on the commit, else on the merge request of the pipeline', async () => {
  const { client, fake, project, target, notes } = await waiting('free')
  const comment = { type: 'comment', target, text: 'Waits for a policy' } as const
  await client.act(comment)
  await client.act(comment)
  assert.deepEqual(notes(), ['Waits for a policy'])
  const { stories } = fake
  stories.push(project, { branch: 'cart' })
  const pullRequest = stories.openPullRequest(project, { branch: 'cart' })
  const run = stories.startRun(project, { pullRequest })
  await client.act({ ...comment, target: { ...target, run_id: String(run.id) } })
  assert.deepEqual(project.comments.at(-1)?.target, { type: 'pull_request', number: pullRequest.number })
})

test('a vulnerability is dismissed with reason and comment, and opened again', async () => {
  const { client, fake, project, repository } = await waiting('ultimate')
  const alert = fake.stories.openAlert(project, { type: 'dependabot' }) as (typeof project.alerts)[number]
  const name = { type: 'dependabot', number: alert.id } as const
  const shared = { repository: repository as HostRepository, alert: name }
  for (const _ of [1, 2]) await client.act({ type: 'dismissal', ...shared, reason: 'not_used', comment: 'Unused' })
  assert.deepEqual(
    [alert.state, alert.dismissal?.reason, alert.dismissal?.comment],
    ['dismissed', 'not_applicable', 'Unused'],
  )
  for (const _ of [1, 2]) await client.act({ type: 'reopening', ...shared })
  assert.equal(alert.state, 'open')
  const free = await waiting('free')
  const refused = free.client.act({ type: 'reopening', repository: free.repository, alert: name })
  await assert.rejects(refused, HostRefusal)
})

test('a status is reported on a commit, and replaced', async () => {
  const { client, project, repository } = await waiting('free')
  const [sha] = [...project.commits.keys()]
  const status = {
    type: 'commit_status',
    repository,
    commit_sha: sha as string,
    context: 'shiplock',
    url: null,
  } as const
  await client.act({ ...status, state: 'success', description: 'Fine' })
  await client.act({ ...status, state: 'failure', description: 'x'.repeat(300) })
  assert.deepEqual(
    project.statuses.map(({ state, context, description }) => [state, context, description?.length]),
    [['failure', 'shiplock', 255]],
  )
})
