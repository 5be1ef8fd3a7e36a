import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { applyCheck } from '../../src/ci/changes/apply-change.ts'
import type { HostEvent } from '../../src/codehosts/host-event.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { verifyLink } from '../support/chains.ts'
import { hostDeployment, hostEnvironment, hostStatus } from '../support/host-deployments.ts'
import { hostCheck, hostPullRequest, hostReview, hostRun } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { type Landed, landIn } from '../support/landings.ts'
import { hostJob } from '../support/provider-runs.ts'

const MERGE = 'c'.repeat(40)
const HEAD = 'b'.repeat(40)

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** A pull request that landed now and is recorded, with an approval and a finished check. */
async function recorded(): Promise<Landed & { amendments(): Promise<Json[]> }> {
  const landed = await landIn(api)
  const at = api.clock.now()
  const data = hostPullRequest({ created_at: at, merged_at: at, closed_at: at, updated_at: at })
  await landed.tell({ kind: 'pull_request', data }, review(), check())
  api.clock.advance(3000)
  await landed.work()
  assert.equal((await landed.changes()).length, 1)
  return { ...landed, amendments: async () => (await landed.changes())[0]?.amendments ?? [] }
}

const review = (fields: Parameters<typeof hostReview>[0] = {}): HostEvent => ({
  kind: 'review',
  data: hostReview({ submitted_at: new Date(api.clock.now().getTime() - MINUTE_MS), ...fields }),
})
const check = (fields: Parameters<typeof hostCheck>[0] = {}): HostEvent => ({
  kind: 'check',
  data: hostCheck({ started_at: api.clock.now(), completed_at: api.clock.now(), ...fields }),
})
const run = (fields: Partial<HostRun> = {}): HostEvent => {
  const at = api.clock.now()
  const times = { created_at: at, started_at: at, completed_at: at, updated_at: at }
  return {
    kind: 'run',
    data: hostRun({ commit: { sha: MERGE, message: null }, status: 'success', ...times, ...fields }),
  }
}

test('a review after the record becomes one amendment, in the same chain', async () => {
  const landed = await recorded()
  api.clock.advance(MINUTE_MS)
  const late = review({ id: '2', state: 'changes_requested', submitted_at: api.clock.now() })
  await landed.tell(late)
  await landed.work()
  await landed.tell(late, late)
  await landed.work()
  const [change] = await landed.changes()
  const [amendment, ...others] = change?.amendments ?? []
  assert.deepEqual(others, [])
  const { chain, ...body } = amendment ?? assert.fail()
  assert.deepEqual(body, {
    change: change?.id,
    at: api.clock.now().toISOString(),
    kind: 'review',
    facts: {
      review: {
        id: '2',
        reviewer: { id: '8', login: 'grace', is_bot: false },
        state: 'changes_requested',
        commit_sha: HEAD,
        submitted_at: api.clock.now().toISOString(),
        stale: false,
      },
      deviations: [],
    },
  })
  assert.deepEqual([chain.index, chain.previous_hash, change?.last_index], [1, change?.chain.hash, 1])
})

test('a dismissal after the record amends it, and does not make the change one without a review', async () => {
  const landed = await recorded()
  const [before] = await landed.records()
  const submitted_at = new Date(before?.reviews[0]?.submitted_at ?? '')
  await landed.tell(review({ state: 'dismissed', submitted_at }))
  await landed.work()
  const [amendment, ...others] = await landed.amendments()
  assert.deepEqual([amendment?.facts.review.state, amendment?.facts.deviations, others], ['dismissed', [], []])
})

test('a check with another result amends the record; the row has the deviations of both', async () => {
  const landed = await recorded()
  api.clock.advance(MINUTE_MS)
  await landed.tell(check({ id: '72', status: 'in_progress', completed_at: null }))
  await landed.work()
  assert.deepEqual(await landed.amendments(), [])
  api.clock.advance(MINUTE_MS)
  await landed.tell(check({ id: '72', status: 'failure' }), check({ id: '73', name: 'lint' }))
  await landed.work()
  const amendments = await landed.amendments()
  assert.deepEqual(
    amendments
      .map(({ kind, facts }) => [kind, facts.check.name, facts.check.status, facts.deviations])
      .sort((a, b) => (a[1] < b[1] ? -1 : 1)),
    [
      ['check', 'lint', 'success', []],
      ['check', 'test', 'failure', ['check_failed']],
    ],
  )
  const [row] = await landed.services.sql`select deviations from changes where org_id = ${landed.source.org_id}`
  assert.deepEqual(row?.deviations, ['check_failed'])
  const chain = { org_id: landed.source.org_id, provider: 'github', repository_id: '1001' }
  assert.deepEqual(await verifyLink(landed.services, chain, 2), { state: 'intact', breaks: [] })
})

test('a late run amends the record, and so does its second attempt', async () => {
  const landed = await recorded()
  await landed.tell(run({ status: 'in_progress', completed_at: null }))
  await landed.work()
  api.clock.advance(MINUTE_MS)
  await landed.tell(run())
  await landed.work()
  api.clock.advance(MINUTE_MS)
  await landed.tell(run({ attempt: 2 }))
  await landed.work()
  const amendments = await landed.amendments()
  assert.deepEqual(
    amendments.map(({ facts: { run: stated } }) => [stated.id, stated.attempt, stated.status]),
    [
      ['gh_run_9001', 1, 'success'],
      ['gh_run_9001', 2, 'success'],
    ],
  )
})

test('a scheduled run that begins an hour later is no fact of the change, and neither are its checks', async () => {
  const landed = await recorded()
  api.clock.advance(61 * MINUTE_MS)
  const url = 'https://github.com/acme/shop/actions/runs/9001'
  await landed.tell(
    run({ kind: 'schedule', event: 'schedule', status: 'failure' }),
    check({ id: '90', name: 'nightly', status: 'failure', url: `${url}/job/1` }),
  )
  await landed.work()
  assert.deepEqual(await landed.amendments(), [])
})

test('a nightly run shortly after the landing, a run that somebody starts, and what follows them are no facts of the change', async () => {
  const landed = await recorded()
  api.clock.advance(10 * MINUTE_MS)
  const url = 'https://github.com/acme/shop/actions/runs'
  await landed.tell(
    run({ kind: 'schedule', event: 'schedule', status: 'failure', html_url: `${url}/9001` }),
    check({ id: '90', name: 'nightly', status: 'failure', url: `${url}/9001/job/90` }),
    run({ id: '9002', kind: 'manual', event: 'workflow_dispatch', status: 'failure', html_url: `${url}/9002` }),
  )
  api.clock.advance(61 * MINUTE_MS)
  await landed.tell(
    run({ id: '9003', kind: 'workflow', event: 'workflow_run', status: 'failure', html_url: `${url}/9003` }),
    run({ id: '9004', kind: 'push', event: 'push', status: 'failure', html_url: `${url}/9004` }),
    // Of a run that is not known yet.
    check({ id: '95', name: 'other', status: 'failure', url: `${url}/9005/job/95` }),
  )
  await landed.work()
  assert.deepEqual(await landed.amendments(), [])
  const [row] = await landed.services.sql`select deviations from changes where org_id = ${landed.source.org_id}`
  assert.deepEqual(row?.deviations, [])
})

test('a run that follows a long run of the landing, and the checks of both, amend the record', async () => {
  const landed = await recorded()
  const url = 'https://github.com/acme/shop/actions/runs'
  const created_at = api.clock.now()
  api.clock.advance(90 * MINUTE_MS)
  await landed.tell(
    run({ created_at, started_at: created_at, html_url: `${url}/9001` }),
    check({ id: '90', name: 'late', status: 'failure', url: `${url}/9001/job/90` }),
  )
  api.clock.advance(MINUTE_MS)
  const kind = { kind: 'workflow', event: 'workflow_run' } as const
  await landed.tell(run({ id: '9002', ...kind, html_url: `${url}/9002` }))
  await landed.work()
  const facts = (await landed.amendments()).map(({ facts: { run: ran, check: checked } }) => ran?.id ?? checked?.name)
  assert.deepEqual(facts.sort(), ['gh_run_9001', 'gh_run_9002', 'late'])
})

test('a deployment of the commit that fails or is rejected is no fact of the change, but another failed job is', async () => {
  const landed = await recorded()
  landed.answers.readEnvironment = async () => hostEnvironment()
  const deployment = hostDeployment({ commit_sha: MERGE, run: { id: '9001', attempt: 1 } })
  const job = (id: string, status: 'success' | 'failure'): HostEvent => ({
    kind: 'job',
    data: hostJob({ id, status, completed_at: api.clock.now() }),
  })
  await landed.tell(
    run({ status: 'in_progress', completed_at: null }),
    job('70', 'success'),
    { kind: 'deployment', data: deployment },
    { kind: 'deployment_status', data: hostStatus('waiting', api.clock.now(), deployment) },
  )
  api.clock.advance(2 * DAY_MS)
  const created_at = new Date(api.clock.now().getTime() - 2 * DAY_MS)
  await landed.tell(
    job('77', 'failure'),
    check({ id: '77', name: 'deploy', status: 'failure', started_at: created_at }),
    run({ status: 'failure', created_at, started_at: created_at }),
  )
  await landed.work()
  assert.deepEqual(await landed.amendments(), [])
  await landed.tell(job('70', 'failure'), run({ status: 'failure', created_at, started_at: created_at }))
  await landed.work()
  const [amendment] = await landed.amendments()
  assert.deepEqual([amendment?.kind, amendment?.facts.deviations], ['run', ['check_failed']])
})

test('after 90 days, and after 500 amendments, nothing is appended', async () => {
  const landed = await recorded()
  await landed.services.sql.begin(async (tx) => {
    for (let index = 0; index < 502; index += 1)
      await applyCheck(landed.services, tx, landed.source, hostCheck({ id: `${1000 + index}`, name: `check ${index}` }))
  })
  await landed.tell(check())
  await landed.work()
  assert.equal((await landed.amendments()).length, 500)
  const old = await recorded()
  api.clock.advance(91 * DAY_MS)
  await old.tell(check({ id: '91', name: 'much later' }))
  await old.work()
  assert.deepEqual(await old.amendments(), [])
})

test('facts that arrive while the record is written are in the record or amend it', async () => {
  const landed = await landIn(api)
  const at = api.clock.now()
  const data = hostPullRequest({ created_at: at, merged_at: at, closed_at: at, updated_at: at })
  await landed.tell({ kind: 'pull_request', data }, check())
  api.clock.advance(3000)
  landed.answers.listReviews = async () => {
    // After the host has answered, before the record is written.
    await landed.tell(review())
    return []
  }
  await landed.work()
  const [change] = await landed.changes()
  const stated = [...(change?.record?.reviews ?? []), ...(change?.amendments ?? []).map(({ facts }) => facts.review)]
  assert.deepEqual(
    stated.map((found) => found?.id),
    ['1'],
  )
})
