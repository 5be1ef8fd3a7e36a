import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { forEachHost } from '../../support/hosts/host-table.ts'
import type { RunStory } from '../../support/hosts/stories/run-story.ts'
import type { Commit, Repository } from '../../support/hosts/types.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed, nextSecond } from '../../support/stories.ts'

const DEPLOY = [{ name: 'deploy', environment: 'production' }]
const ACCOUNT = 'acme'

forEachHost((scene, can) => {
  before(async () => {
    await scene().coverProduction()
    scene().host.stories.addRepository(`${ACCOUNT}/first`)
    await scene().connect(ACCOUNT)
  })

  /** A repository whose environment `production` has our rule, where the host can have it. */
  function addRepository(name: string): Repository {
    const { stories, can } = scene().host
    const repository = stories.addRepository(`${ACCOUNT}/${name}`)
    stories.addEnvironment(repository, 'production', { ours: can.gate !== false })
    return repository
  }

  function startDeployment(repository: Repository, commit?: Commit): RunStory {
    return scene().host.stories.startRun(repository, { jobs: DEPLOY, ...(commit && { sha: commit.sha }) })
  }

  async function show(story: RunStory): Promise<Json> {
    await scene().server.settled()
    return scene().show(story.deployment('deploy'))
  }

  const answer = (story: RunStory, verb: 'approve' | 'reject') => scene().answer(story.deployment('deploy'), verb)
  const decisionsOf = ({ id }: RunStory) =>
    scene()
      .host.stories.ruleAnswers.filter(({ run_id, state }) => run_id === id && state !== null)
      .map(({ state }) => state)

  /** Deploys a commit to the end, approved by the key where that is needed. */
  async function deploy(repository: Repository, commit: Commit): Promise<RunStory> {
    const { host, server } = scene()
    const story = startDeployment(repository, commit)
    await server.settled()
    if (host.can.gate !== false) assert.equal((await answer(story, 'approve')).status, 200)
    await server.settled()
    return story.finish('deploy')
  }

  if (can.gate)
    test('a key approves: the host lets the job go on', async () => {
      const { host, server } = scene()
      const repository = addRepository('approved')
      host.stories.push(repository)
      const story = startDeployment(repository)
      assert.equal((await show(story)).status, 'pending_approval')
      assert.equal((await answer(story, 'approve')).status, 200)
      await server.settled()
      assert.deepEqual(decisionsOf(story), ['approved'])
      story.finish('deploy')
      const { status, custom_rule_state, bypass } = await show(story)
      assert.deepEqual([status, custom_rule_state, bypass], ['success', 'approved', null])
      await assertNothingFailed(server)
    })

  if (can.gate)
    test('a key rejects: the host fails the job, and the deployment stays rejected', async () => {
      const { host, server } = scene()
      const repository = addRepository('rejected')
      host.stories.push(repository)
      const story = startDeployment(repository)
      await server.settled()
      assert.equal((await answer(story, 'reject')).status, 200)
      const rejected = await show(story)
      assert.deepEqual([rejected.status, rejected.custom_rule_state, rejected.bypass], ['rejected', 'rejected', null])
      assert.deepEqual(decisionsOf(story), ['rejected'])
      assert.equal((await server.get(`/v1/runs/${host.runId(story)}`)).status, 'failure')
      assert.equal((await answer(story, 'approve')).status, 409)
      await assertNothingFailed(server)
    })

  if (!can.gate)
    test('a host without gates shows null, and a decision is refused with a clear text', async () => {
      const { host, server } = scene()
      const repository = addRepository('ungated')
      host.stories.push(repository)
      // Such a host need not show a deployment before it starts, nor say when it does.
      const story = startDeployment(repository).finish('deploy')
      const shown = await show(story)
      assert.deepEqual([shown.status, shown.custom_rule_state, shown.reviewers_state], ['success', null, null])
      const refused = await answer(story, 'approve')
      assert.equal(refused.status, 409)
      assert.notEqual(refused.body.error.message, '')
      await assertNothingFailed(server)
    })

  if (can.reviewers)
    test('a reviewer rejects: the deployment is rejected, and our rule waits for nothing', async () => {
      const { host, server } = scene()
      // Repositories of an account can share their environments.
      const repository = scene().addGated('reviewed')
      await scene().connect(repository.owner.login)
      host.stories.push(repository)
      const story = startDeployment(repository)
      await server.settled()
      host.stories.review(story, 'production', 'rejected', 'grace', 'Not today')
      const rejected = await show(story)
      assert.deepEqual([rejected.status, rejected.reviewers_state, rejected.bypass], ['rejected', 'rejected', null])
      assert.deepEqual(
        rejected.reviews.map(({ reviewer, state, comment }: Json) => [reviewer, state, comment]),
        [['grace', 'rejected', 'Not today']],
      )
      assert.equal((await answer(story, 'approve')).status, 409)
      await assertNothingFailed(server)
    })

  if (can.gate)
    test('somebody starts the job without our decision: the bypass names our rule', async () => {
      const { host, server } = scene()
      const repository = addRepository('bypassed')
      host.stories.push(repository)
      const story = startDeployment(repository)
      await server.settled()
      host.stories.bypass(story, 'production')
      story.finish('deploy')
      const { status, bypass } = await show(story)
      assert.equal(status, 'success')
      assert.deepEqual([bypass.from, bypass.gates, bypass.policies], ['pending_approval', ['customRule'], []])
      assert.equal((await answer(story, 'approve')).status, 409)
      const id = host.deploymentId(story.deployment('deploy'))
      const audited =
        await server.sql`select from audit_entries where action = 'deployment.bypass' and object_id = ${id}`
      assert.equal(audited.length, 1)
      await assertNothingFailed(server)
    })

  test('a newer deployment supersedes; a redeploy of the older commit rolls it back', async () => {
    const { host, server } = scene()
    const repository = addRepository('rolled-back')
    const older = host.stories.push(repository, { message: 'One' })
    const first = await deploy(repository, older)
    await nextSecond(server)
    const newer = host.stories.push(repository, { message: 'Two' })
    const second = await deploy(repository, newer)
    const idOf = (story: RunStory) => host.deploymentId(story.deployment('deploy'))
    const superseded = await show(first)
    assert.deepEqual([superseded.status, superseded.superseded_by_id], ['success', idOf(second)])
    await nextSecond(server)
    const third = await deploy(repository, older)
    const rolledBack = await show(second)
    assert.deepEqual([rolledBack.status, rolledBack.superseded_by_id], ['rolled_back', idOf(third)])
    assert.notEqual(rolledBack.rollback_at, null)
    const { status, superseded_by_id } = await show(third)
    assert.deepEqual([status, superseded_by_id], ['success', null])
    await assertNothingFailed(server)
  })
})
