import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { Repository } from '../support/hosts/types.ts'
import type { Json } from '../support/json.ts'
import {
  assertNothingFailed,
  BUILD_AND_DEPLOY,
  mergeChange,
  nextSecond,
  nullFields,
  REASON,
} from '../support/stories.ts'

let server: ConnectedServer
let shop: Repository

before(async () => {
  server = await startConnectedServer()
  const { fake } = server
  fake.addUser('ada', { name: 'Ada Lovelace' })
  shop = fake.addRepository('acme/shop')
  fake.addEnvironment(shop, 'production', { reviewers: ['grace', '@release'], ours: true, apps: ['other'] })
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
})
after(() => server?.close())

const deployment = (id: number) => server.get(`/v1/deployments/gh_deployment_${id}`)
const run = (id: number) => server.get(`/v1/runs/gh_run_${id}`)

test('a push goes to production: review, merge, run, both gates, success', async () => {
  const { fake } = server
  const merged = mergeChange(fake, shop)
  const story = fake.startRun(shop, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  fake.answerOtherRule(story, 'production', 'other', 'approved')
  await server.settled()
  const { id } = story.deployment('deploy')
  const waiting = await deployment(id)
  assert.deepEqual(
    [waiting.status, waiting.reviewers_state, waiting.custom_rule_state, waiting.custom_rule_awaiting],
    ['pending_approval', 'pending', 'pending', 'manual_decision_required'],
  )

  const approve = `/v1/deployments/gh_deployment_${id}/approve`
  assert.equal((await server.post(approve, {})).status, 400)
  const answered = await server.post(approve, { reason: REASON })
  assert.deepEqual(answered, { status: 200, body: { data: { approved: true, status: 'pending_approval' } } })
  await server.settled()
  const [comment, decision, ...others] = fake.ruleAnswers.filter(({ run_id }) => run_id === story.id)
  assert.deepEqual([comment?.state, decision?.state, others], [null, 'approved', []])
  assert.match(comment?.comment ?? '', /The gate Production needs an approval/)
  assert.match(decision?.comment ?? '', /by the API key \*\*first key\*\*, not by a person/)
  assert.match(decision?.comment ?? '', new RegExp(REASON))
  const again = await server.post(approve, { reason: REASON })
  assert.deepEqual([again.status, again.body.error.code], [409, 'reviewer_gate_requires_human'])

  fake.review(story, 'production', 'approved', 'grace', 'Go')
  story.finish('deploy')
  await server.settled()
  const done = await deployment(id)
  assert.deepEqual([done.status, done.reviewers_state, done.custom_rule_state], ['success', 'approved', 'approved'])
  assert.deepEqual(
    done.reviews.map(({ reviewer, state, comment }: Json) => [reviewer, state, comment]),
    [['grace', 'approved', 'Go']],
  )
  assert.deepEqual(
    done.approvals.map(({ principal, display_name, note, gates }: Json) => [principal, display_name, note, gates]),
    [['api_key', 'first key', REASON, ['customRule']]],
  )
  assert.equal(done.commit_sha, merged.sha)
  assert.equal(done.environment_url, 'https://shop.example')
  assert.equal(done.bypass, null)

  const shown = await run(story.id)
  assert.equal(shown.status, 'success')
  assert.deepEqual(shown.job_dependencies, { 'Compile it': [], deploy: ['Compile it'] })
  const pull = { number: 1, url: 'https://github.com/acme/shop/pull/1' }
  assert.deepEqual(shown.trigger, {
    ...{ event: 'push', kind: 'push', actor: 'ada', pull_request: null, merged_pull_request: pull },
  })
  assert.equal(shown.author_login, 'ada')
  assert.equal(shown.importance_score > 0, true)
  await assertNothingFailed(server)
})

test('no field of a run, a deployment or an alert is null that GitHub knows', async () => {
  const { fake } = server
  for (const type of ['code_scanning', 'dependabot', 'secret_scanning'] as const) fake.openAlert(shop, { type })
  await server.settled()
  const [deployed] = await server.get('/v1/deployments?repository=acme/shop')
  assert.deepEqual(nullFields(deployed), [
    // What did not happen: no key of the run's own, no release, no rollback, no bypass, no policy.
    'approvals.0.email',
    'approvals.0.provider_account',
    'approvals.0.user_id',
    'bypass',
    'custom_rule_awaiting',
    'override',
    'policy_evaluation',
    'previous_attempt_id',
    'release_name',
    'rollback_at',
    'superseded_by_id',
    'version',
  ])
  const [ran] = await server.get('/v1/runs')
  assert.deepEqual(nullFields(ran), [
    // Azure DevOps, self-reported runs and identity providers have these.
    'azure',
    'ci_system',
    // The run succeeded.
    'failure_category',
    'failure_excerpt',
    'failure_recurrence',
    // A push is no release, and belongs to no open pull request.
    'release_name',
    'sso_organization_id',
    'trigger.pull_request',
  ])
  const alerts: Json[] = await server.get('/v1/security/alerts')
  const nullOf = (type: string) => nullFields(alerts.find((alert) => alert.type === type))
  const undecided = ['dismiss_comment', 'dismiss_reason', 'dismissal_delivery', 'dismissal_source', 'dismissed_at']
  const open = [...undecided, 'dismissed_by', 'dismissed_by_name', 'fixed_at', 'proposed_dismissal']
  const advisory = ['advisory_url', 'cve_id', 'ghsa_id', 'package_name', 'patched_version', 'vulnerable_versions']
  assert.deepEqual(nullOf('code_scanning'), [...open, ...advisory, 'secret_type'].sort())
  assert.deepEqual(
    nullOf('dependabot'),
    [...open, 'commit_sha', 'git_ref', 'location.end_line', 'location.start_line', 'secret_type'].sort(),
  )
  assert.deepEqual(nullOf('secret_scanning'), [...open, ...advisory, 'description', 'git_ref'].sort())
  await assertNothingFailed(server)
})

test('an alert is opened, fixed, reopened and dismissed; its finding and its issue follow', async () => {
  const { fake } = server
  const lab = fake.addRepository('acme/lab')
  fake.push(lab)
  const alert = fake.openAlert(lab, { type: 'code_scanning' })
  const states = async () => {
    await server.settled()
    await nextSecond(server)
    const { status, issue_id } = await server.get(`/v1/security/alerts/gh_alert_code_scanning_${lab.id}_1`)
    const findings: Json[] = await server.get('/v1/security/findings?repository=acme/lab')
    const issues: Json[] = await server.get('/v1/security/issues')
    return [status, findings.map(({ state }) => state), issues.find(({ id }) => id === issue_id)?.status]
  }
  assert.deepEqual(await states(), ['open', ['open'], 'open'])
  fake.fixAlert(alert)
  assert.deepEqual(await states(), ['fixed', ['fixed'], 'fixed'])
  fake.reopenAlert(alert)
  assert.deepEqual(await states(), ['open', ['open'], 'open'])
  fake.dismissAlert(alert, 'false positive', { by: 'ada', comment: 'Escaped' })
  assert.deepEqual(await states(), ['dismissed', ['dismissed'], 'dismissed'])
  const dismissed = await server.get(`/v1/security/alerts/gh_alert_code_scanning_${lab.id}_1`)
  assert.deepEqual(
    [dismissed.dismissed_by, dismissed.dismiss_reason, dismissed.dismiss_comment, dismissed.dismissal_source],
    ['ada', 'false positive', 'Escaped', 'github'],
  )
  fake.reopenAlert(alert, 'grace')
  assert.deepEqual(await states(), ['open', ['open'], 'open'])
  await assertNothingFailed(server)
})

test('a dismissal of ours arrives on GitHub, and stays when GitHub reports it', async () => {
  const { fake } = server
  const docs = fake.addRepository('acme/docs')
  fake.push(docs)
  const alert = fake.openAlert(docs, { type: 'dependabot' })
  await server.settled()
  const id = `gh_alert_dependabot_${docs.id}_1`
  const why = ['--reason', 'not_used', '--comment', 'Not reachable']
  await server.command('alert', 'dismiss', id, '--org', 'default', ...why)
  await server.settled()
  assert.deepEqual([alert.state, alert.dismissal?.comment], ['dismissed', 'Not reachable'])
  const { status, dismissal_delivery, dismissal_source } = await server.get(`/v1/security/alerts/${id}`)
  assert.deepEqual([status, dismissal_delivery, dismissal_source], ['dismissed', 'delivered', 'shiplock'])
  await assertNothingFailed(server)
})

const SECRET = 'ghp_00000000000000000000000000000000abcd'

test('a failed run has a category, an excerpt without secrets and a recurrence; a second attempt succeeds', async () => {
  const { fake } = server
  const broken = fake.addRepository('acme/broken')
  fake.push(broken)
  const failOnce = () => {
    const annotations = [{ level: 'failure' as const, message: 'expected 2 to be 3', path: 'cart.test.ts', line: 7 }]
    const log = `2026-11-22T05:00:00.0000000Z npm test with ${SECRET}\n2026-11-22T05:00:01.0000000Z ##[error]1 test failed\n`
    return fake
      .startRun(broken, { jobs: [{ name: 'test', steps: ['Set up job', 'npm test'] }] })
      .finish('test', 'failure', {
        ...{ annotations, log, failedStep: 'npm test' },
      })
  }
  const stories = [failOnce(), failOnce(), failOnce()]
  await server.settled()
  const runs = await Promise.all(stories.map(({ id }) => run(id)))
  assert.deepEqual(
    runs.map(({ status, failure_category, failure_recurrence }) => [status, failure_category, failure_recurrence]),
    [1, 2, 3].map((recurrence) => ['failure', 'test', recurrence]),
  )
  assert.match(runs[0].failure_excerpt, /npm test with \*\*\*/)
  assert.ok(!JSON.stringify(runs).includes(SECRET))

  const last = stories[2]
  last?.rerun('lin').finish('test')
  await server.settled()
  const again = await run(last?.id ?? 0)
  assert.deepEqual([again.status, again.run_attempt, again.actor_login], ['success', 2, 'ada'])
  assert.deepEqual(
    again.attempts.map(({ number, status, triggered_by }: Json) => [number, status, triggered_by]),
    [
      [1, 'failure', 'ada'],
      [2, 'success', 'lin'],
    ],
  )
  assert.deepEqual([again.failure_category, again.failure_excerpt, again.failure_recurrence], [null, null, null])
  await assertNothingFailed(server)
})
