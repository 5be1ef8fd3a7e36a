import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { applyCheck, applyPullRequest, applyPush, applyReview } from '../../src/ci/changes/apply-change.ts'
import { findChangeFacts } from '../../src/ci/changes/change-facts.store.ts'
import { applyHostRun, applyPullRequestToRuns } from '../../src/ci/provider-runs/apply-host-run.ts'
import type { HostPullRequest, HostReview } from '../../src/codehosts/host-change.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import type { HostCheck } from '../../src/codehosts/host-run.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { hostAccount, hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { minutes } from '../support/provider-runs.ts'

const HEAD = 'b'.repeat(40)
const MERGE = 'c'.repeat(40)
const repository = hostRepository()

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

function pull(fields: Partial<HostPullRequest> = {}): HostPullRequest {
  return {
    repository,
    number: 41,
    title: 'Fix the cart',
    url: 'https://github.com/acme/shop/pull/41',
    author: hostAccount(),
    state: 'open',
    draft: false,
    head: { ref: 'cart', sha: 'd'.repeat(40), repository_id: '1001' },
    base: { ref: 'main', sha: 'e'.repeat(40) },
    merge_commit_sha: null,
    merged_by: null,
    merged_by_queue: false,
    created_at: minutes(0),
    merged_at: null,
    closed_at: null,
    updated_at: minutes(0),
    ...fields,
  }
}

function review(fields: Partial<HostReview> = {}): HostReview {
  const base = { repository, pull_request: 41, id: '1', reviewer: hostAccount({ id: '8', login: 'grace' }) }
  return { ...base, state: 'approved', commit_sha: HEAD, submitted_at: minutes(3), ...fields }
}

function check(fields: Partial<HostCheck> = {}): HostCheck {
  const base = { repository, commit_sha: HEAD, id: '71', name: 'test', source: 'github-actions', url: null }
  return { ...base, status: 'in_progress', started_at: minutes(3), completed_at: null, ...fields }
}

const pushed = hostRun({ id: '1', commit: { sha: MERGE, message: null } })
const ofPull = hostRun({
  id: '2',
  commit: { sha: 'd'.repeat(40), message: null },
  event: 'pull_request',
  kind: 'pull_request',
})

/** A pull request from its first commit to its merge. */
const STORY: HostEvent[] = [
  { kind: 'pull_request', data: pull() },
  {
    kind: 'pull_request',
    data: pull({ head: { ref: 'cart', sha: HEAD, repository_id: '1001' }, updated_at: minutes(2) }),
  },
  { kind: 'run', data: ofPull },
  { kind: 'check', data: check() },
  { kind: 'check', data: check({ status: 'failure', completed_at: minutes(4) }) },
  { kind: 'check', data: check({ id: '72', started_at: minutes(5) }) },
  { kind: 'check', data: check({ id: '72', started_at: minutes(5), status: 'success', completed_at: minutes(6) }) },
  { kind: 'review', data: review() },
  { kind: 'review', data: review({ id: '2', commit_sha: 'd'.repeat(40), submitted_at: minutes(1) }) },
  { kind: 'review', data: review({ id: '3', submitted_at: minutes(4) }) },
  { kind: 'review', data: review({ id: '3', submitted_at: minutes(4), state: 'dismissed' }) },
  {
    kind: 'pull_request',
    data: pull({
      ...{ head: { ref: 'cart', sha: HEAD, repository_id: '1001' }, state: 'merged', merge_commit_sha: MERGE },
      ...{ merged_by: hostAccount(), merged_at: minutes(9), closed_at: minutes(9), updated_at: minutes(9) },
    }),
  },
  { kind: 'run', data: pushed },
]

async function apply(source: HostSource, events: readonly HostEvent[]): Promise<void> {
  for (const event of events) {
    await api.services.sql.begin(async (tx) => {
      const { services } = api
      if (event.kind === 'run') await applyHostRun(services, tx, source, event.data)
      if (event.kind === 'check') await applyCheck(services, tx, source, event.data)
      if (event.kind === 'review') await applyReview(services, tx, source, event.data)
      if (event.kind === 'push') await applyPush(services, tx, source, event.data)
      if (event.kind === 'pull_request') {
        await applyPullRequest(services, tx, source, event.data)
        await applyPullRequestToRuns(services, tx, source, event.data)
      }
    })
  }
}

async function newSource(): Promise<HostSource> {
  return insertConnection(api.services.sql, (await api.caller()).orgId)
}

const keyOf = ({ org_id }: HostSource) => ({ org_id, provider: 'github', repository_id: repository.id })

async function factsOf(source: HostSource): Promise<Json> {
  const { sql } = api.services
  const facts = await findChangeFacts(sql, { ...keyOf(source), commit_sha: HEAD, pull_request: null })
  const runs = await sql`
    select run_id, pull_request_number, pull_request_url, merged_pull_request_number, merged_pull_request_url
    from provider_runs where org_id = ${source.org_id} order by run_id`
  return JSON.parse(JSON.stringify({ facts, runs }))
}

test('the facts of a change: the pull request, its reviews and the newest result of each check', async () => {
  const source = await newSource()
  await apply(source, STORY)
  const { facts, runs } = await factsOf(source)
  const at = (count: number) => minutes(count).toISOString()
  const [ada, grace] = [
    { id: '7', login: 'ada', is_bot: false },
    { id: '8', login: 'grace', is_bot: false },
  ]
  assert.deepEqual(facts, {
    pull_request: {
      ...{ number: 41, title: 'Fix the cart', url: 'https://github.com/acme/shop/pull/41', author: ada },
      ...{ state: 'merged', draft: false, head_sha: HEAD, base_ref: 'main', merge_commit_sha: MERGE },
      ...{ merged_by: ada, created_at: at(0), merged_at: at(9) },
    },
    reviews: [
      { reviewer: grace, state: 'dismissed', commit_sha: HEAD, stale: false, submitted_at: at(4) },
      { reviewer: grace, state: 'approved', commit_sha: HEAD, stale: false, submitted_at: at(3) },
      { reviewer: grace, state: 'approved', commit_sha: 'd'.repeat(40), stale: true, submitted_at: at(1) },
    ],
    checks: [{ name: 'test', source: 'github-actions', status: 'success', url: null, completed_at: at(6) }],
  })
  const url = 'https://github.com/acme/shop/pull/41'
  assert.deepEqual(runs, [
    {
      run_id: 'gh_run_1',
      pull_request_number: null,
      pull_request_url: null,
      merged_pull_request_number: 41,
      merged_pull_request_url: url,
    },
    {
      run_id: 'gh_run_2',
      pull_request_number: 41,
      pull_request_url: url,
      merged_pull_request_number: null,
      merged_pull_request_url: null,
    },
  ])
  const { sql } = api.services
  const byMerge = await findChangeFacts(sql, { ...keyOf(source), commit_sha: MERGE, pull_request: null })
  assert.deepEqual([byMerge.pull_request?.number, byMerge.checks], [41, []])
  const stranger = await newSource()
  const none = await findChangeFacts(sql, { ...keyOf(stranger), commit_sha: HEAD, pull_request: 41 })
  assert.deepEqual(none, { pull_request: null, reviews: [], checks: [] })
})

test('the order and repetition of events have no effect', async () => {
  const inOrder = await newSource()
  await apply(inOrder, STORY)
  const expected = await factsOf(inOrder)
  const shuffled = fc
    .shuffledSubarray(STORY, { minLength: STORY.length })
    .chain((events) => fc.array(fc.constantFrom(...STORY), { maxLength: 4 }).map((again) => [...events, ...again]))
  await fc.assert(
    fc.asyncProperty(shuffled, async (events) => {
      const source = await newSource()
      await apply(source, events)
      assert.deepEqual(await factsOf(source), expected)
    }),
    { numRuns: 30 },
  )
})

test('pushes to the tracked branch are kept with their commits, once; others are not', async () => {
  const source = await newSource()
  const person = { name: 'Ada', email: 'ada@example.com', login: 'ada' }
  const commits = Array.from({ length: 1005 }, (_, index) => ({
    ...{ sha: `${index}`.padStart(40, '0'), message: `x${'🛒'.repeat(2500)}`, author: person, committer: person },
    at: minutes(index),
  }))
  const push = {
    repository,
    before: null,
    after: MERGE,
    forced: false,
    by_merge_queue: false,
    pusher: hostAccount(),
    commits,
    pushed_at: minutes(9),
  }
  await apply(source, [
    { kind: 'push', data: { ...push, ref: 'refs/heads/main' } },
    { kind: 'push', data: { ...push, ref: 'refs/heads/main' } },
    { kind: 'push', data: { ...push, ref: 'refs/heads/other' } },
    { kind: 'push', data: { ...push, ref: 'refs/tags/v1' } },
    { kind: 'push', data: { ...push, ref: 'refs/heads/main', after: null } },
  ])
  const { sql } = api.services
  const pushes = await sql`select branch, after_sha, forced from pushes where org_id = ${source.org_id}`
  assert.deepEqual([...pushes], [{ branch: 'main', after_sha: MERGE, forced: false }])
  const [kept] = await sql`
    select count(*)::int as count, max(length(message)) as longest, min(sha) as first
    from pushed_commits where org_id = ${source.org_id}`
  assert.deepEqual(kept, { count: 1000, longest: 2001, first: '5'.padStart(40, '0') })
})

test('a push is the same in a webhook and in a list, in any order', async () => {
  const person = { name: 'Ada', email: 'ada@example.com', login: 'ada' }
  const commit = { sha: MERGE, message: 'Fix', author: person, committer: person, at: minutes(1) }
  const listed = {
    repository,
    ref: 'refs/heads/main',
    before: HEAD,
    after: MERGE,
    forced: false,
    by_merge_queue: false,
    pusher: hostAccount(),
    commits: [],
    pushed_at: minutes(9),
  }
  const received = { ...listed, commits: [commit], pushed_at: minutes(8) }
  for (const order of [
    [listed, received],
    [received, listed],
    [received, listed, received],
  ]) {
    const source = await newSource()
    await apply(
      source,
      order.map((data) => ({ kind: 'push', data })),
    )
    const stored = await api.services.sql`
      select push.pushed_at, pushed.sha
      from pushes push
      left join pushed_commits pushed on pushed.org_id = push.org_id and pushed.push_id = push.id
      where push.org_id = ${source.org_id}`
    assert.deepEqual([...stored], [{ pushed_at: minutes(8), sha: MERGE }])
  }
})

test('a pull request that is closed and reopened in one second, and a review that counts again, are as they are read', async () => {
  const source = await insertConnection(api.services.sql, (await api.caller()).orgId)
  const { sql } = api.services
  const asked = (ms: number): HostSource => ({
    ...source,
    learned: { by: 'read', at: new Date(minutes(3).getTime() + ms) },
  })
  const apply = (of: HostSource, pulled: HostPullRequest, reviewed: HostReview) =>
    sql.begin(async (tx) => {
      await applyPullRequest(api.services, tx, of, pulled)
      await applyReview(api.services, tx, of, reviewed)
    })
  const updated_at = minutes(3)
  const closed = pull({ state: 'closed', closed_at: updated_at, updated_at, head: { ...pull().head, sha: HEAD } })
  const open = pull({ updated_at, head: { ...pull().head, sha: HEAD } })
  const [dismissed, approved] = [review({ state: 'dismissed' }), review()]
  const shown = async () => {
    const key = { org_id: source.org_id, provider: 'github', repository_id: '1001', commit_sha: HEAD }
    const facts = await findChangeFacts(sql, { ...key, pull_request: 41 })
    return [facts.pull_request?.state, facts.reviews.map(({ state }) => state)]
  }
  await apply({ ...source, learned: { by: 'told', at: updated_at } }, closed, dismissed)
  assert.deepEqual(await shown(), ['closed', ['dismissed']])
  await apply(asked(1), open, approved)
  assert.deepEqual(await shown(), ['open', ['approved']])
  await apply({ ...source, learned: { by: 'told', at: updated_at } }, closed, dismissed)
  assert.deepEqual(await shown(), ['open', ['approved']])
  await apply(asked(2), closed, dismissed)
  assert.deepEqual(await shown(), ['closed', ['dismissed']])
})
