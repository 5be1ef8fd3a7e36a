import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachHost } from '../../support/hosts/host-table.ts'
import type { Json } from '../../support/json.ts'
import { assertNothingFailed, BUILD_AND_DEPLOY, mergeChange, nextSecond, REASON } from '../../support/stories.ts'

forEachHost((scene) => {
  const run = (id: string) => scene().server.get(`/v1/runs/${id}`)

  test('a push goes to production: review, merge, run, what gates it, success', async () => {
    const { host, server } = scene()
    const { stories, can } = host
    await scene().coverProduction()
    stories.addUser('ada', { name: 'Ada Lovelace' })
    const shop = scene().addGated('shop')
    await scene().connect(shop.owner.login)
    const merged = mergeChange(stories, shop)
    const story = stories.startRun(shop, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
    await server.settled()
    const deployment = story.deployment('deploy')
    if (can.gate !== false) {
      const waiting = await scene().show(deployment)
      assert.deepEqual(
        [waiting.status, waiting.custom_rule_state, waiting.custom_rule_awaiting],
        ['pending_approval', 'pending', 'manual_decision_required'],
      )
      assert.equal((await scene().answer(deployment, 'approve')).status, 200)
      await server.settled()
    }
    if (can.reviewers) {
      assert.equal((await scene().show(deployment)).reviewers_state, 'pending')
      stories.review(story, 'production', 'approved', 'grace', 'Go')
    }
    story.finish('deploy')
    await server.settled()
    const done = await scene().show(deployment)
    assert.deepEqual(
      [done.status, done.reviewers_state, done.custom_rule_state],
      ['success', can.reviewers ? 'approved' : null, can.gate === false ? null : 'approved'],
    )
    assert.deepEqual([done.commit_sha, done.bypass, done.environment], [merged.sha, null, 'production'])
    if (can.reviewers)
      assert.deepEqual(
        done.reviews.map(({ reviewer, state }: Json) => [reviewer, state]),
        [['grace', 'approved']],
      )
    if (can.gate !== false)
      assert.deepEqual(
        done.approvals.map(({ principal, note }: Json) => [principal, note]),
        [['api_key', REASON]],
      )
    const shown = await run(host.runId(story))
    assert.deepEqual(
      [shown.status, shown.trust, shown.commit_sha, shown.trigger.kind, shown.trigger.merged_pull_request?.number],
      ['success', 'verified', merged.sha, 'push', 1],
    )
    await assertNothingFailed(server)
  })

  const SECRET = 'ghp_00000000000000000000000000000000abcd'

  test('a failed run has an excerpt without secrets and a recurrence; a second attempt succeeds', async () => {
    const { host, server } = scene()
    const repository = host.stories.addRepository(`${scene().newLogin()}/broken`)
    await scene().connect(repository.owner.login)
    host.stories.push(repository)
    const failOnce = () =>
      host.stories
        .startRun(repository, { jobs: [{ name: 'test', steps: ['Set up', 'npm test'] }] })
        .finish('test', 'failure', { log: `npm test with ${SECRET}\nerror: 1 test failed\n`, failedStep: 'npm test' })
    const stories = [failOnce(), failOnce()]
    await server.settled()
    const runs = await Promise.all(stories.map((story) => run(host.runId(story))))
    assert.deepEqual(
      runs.map(({ status, failure_recurrence }) => [status, failure_recurrence]),
      [1, 2].map((recurrence) => ['failure', recurrence]),
    )
    assert.match(runs[0].failure_excerpt, /npm test with \*\*\*/)
    assert.ok(!JSON.stringify(runs).includes(SECRET))
    const last = stories[1] ?? assert.fail()
    await nextSecond(server)
    if (host.can.reruns) {
      last.rerun('lin').finish('test')
      await server.settled()
      const again = await run(host.runId(last))
      assert.deepEqual([again.status, again.run_attempt, again.failure_category], ['success', 2, null])
      assert.deepEqual(
        again.attempts.map(({ number, status }: Json) => [number, status]),
        [
          [1, 'failure'],
          [2, 'success'],
        ],
      )
    }
    const cancelled = host.stories.startRun(repository).cancel()
    await server.settled()
    assert.equal((await run(host.runId(cancelled))).status, 'cancelled')
    await assertNothingFailed(server)
  })

  test('alerts are opened, fixed, reopened and dismissed; their findings and issues follow', async () => {
    const { host, server } = scene()
    const { stories, can } = host
    const repository = stories.addRepository(`${scene().newLogin()}/lab`)
    await scene().connect(repository.owner.login)
    stories.push(repository)
    for (const type of can.alerts) {
      const alert = stories.openAlert(repository, { type })
      const states = async () => {
        // Hosts that announce no alerts are asked for them when a run has ended.
        stories.startRun(repository).finish('build')
        await server.settled()
        await nextSecond(server)
        const { status, issue_id } = await server.get(`/v1/security/alerts/${host.alertId(alert)}`)
        const query = `repository=${encodeURIComponent(host.fullName(repository))}&provider=${host.provider}`
        const findings: Json[] = await server.get(`/v1/security/findings?limit=100&${query}`)
        const finding = findings.find((one) => one.issue_id === issue_id)
        const issues: Json[] = await server.get('/v1/security/issues?limit=100')
        return [status, finding?.state, issues.find(({ id }) => id === issue_id)?.status]
      }
      assert.deepEqual(await states(), ['open', 'open', 'open'])
      if (type !== 'secret_scanning') {
        stories.fixAlert(alert)
        assert.deepEqual(await states(), ['fixed', 'fixed', 'fixed'])
        stories.reopenAlert(alert)
        assert.deepEqual(await states(), ['open', 'open', 'open'])
      }
      stories.dismissAlert(alert, 'false_positive', { by: 'ada', comment: 'Escaped' })
      assert.deepEqual(await states(), ['dismissed', 'dismissed', 'dismissed'])
      const dismissed = await server.get(`/v1/security/alerts/${host.alertId(alert)}`)
      assert.equal(dismissed.dismissal_source, host.provider)
    }
    const listed: Json[] = await server.get('/v1/security/alerts?limit=100')
    const own = listed.filter((alert) => alert.repository === host.fullName(repository))
    assert.deepEqual(own.map(({ type }) => type).sort(), [...can.alerts].sort())
    await assertNothingFailed(server)
  })

  test('a dismissal of ours arrives at the host, or is refused with a clear text', async () => {
    const { host, server } = scene()
    const { stories, can } = host
    const repository = stories.addRepository(`${scene().newLogin()}/docs`)
    await scene().connect(repository.owner.login)
    stories.push(repository)
    for (const type of can.alerts) {
      const alert = stories.openAlert(repository, { type })
      stories.startRun(repository).finish('build')
      await server.settled()
      const why = ['--org', 'default', '--reason', 'false_positive', '--comment', 'Not reachable']
      await server.command('alert', 'dismiss', host.alertId(alert), ...why)
      await server.settled()
      const shown = await server.get(`/v1/security/alerts/${host.alertId(alert)}`)
      const arrives = can.dismissals.includes(type)
      assert.equal(alert.state, arrives ? 'dismissed' : 'open')
      // What the host refuses does not count.
      const counts = arrives ? ['dismissed', 'shiplock', 'delivered'] : ['open', null, 'failed']
      assert.deepEqual([shown.status, shown.dismissal_source, shown.dismissal_delivery], counts)
    }
    await assertNothingFailed(server)
  })
})
