import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { applyCheck } from '../../src/ci/changes/apply-change.ts'
import type { HostEvent } from '../../src/codehosts/host-event.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { verifyLink } from '../support/chains.ts'
import { hostCheck, hostPullRequest, hostReview, hostRun } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { type Landed, landIn } from '../support/landings.ts'

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
