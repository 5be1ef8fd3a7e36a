import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { HostUnavailable } from '../../src/codehosts/code-host.ts'
import type { HostPullRequest } from '../../src/codehosts/host-change.ts'
import type { HostEvent } from '../../src/codehosts/host-event.ts'
import { findNextDue, listDueLandings, updateLandingDue } from '../../src/provenance/changes/landing.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import {
  hostAccount,
  hostChangeCommit,
  hostCheck,
  hostPullRequest,
  hostPush,
  hostRepository,
  hostReview,
  pushedCommits,
} from '../support/host-objects.ts'
import { commitList, landIn } from '../support/landings.ts'

const HEAD = 'b'.repeat(40)
const MERGE = 'c'.repeat(40)
const OTHER = 'd'.repeat(40)

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const SECOND = 1000
const MINUTE = 60 * SECOND

/** The times of a landing that happens now. */
function now(fields: Partial<HostPullRequest> = {}): Partial<HostPullRequest> {
  const at = api.clock.now()
  return { created_at: new Date(at.getTime() - 600_000), merged_at: at, closed_at: at, updated_at: at, ...fields }
}

const pull = (fields: Partial<HostPullRequest> = {}): HostEvent => ({
  kind: 'pull_request',
  data: hostPullRequest(now(fields)),
})
const push = (fields: Parameters<typeof hostPush>[0] = {}): HostEvent => ({
  kind: 'push',
  data: hostPush({ pushed_at: api.clock.now(), ...fields }),
})
const review = (fields: Parameters<typeof hostReview>[0] = {}): HostEvent => ({
  kind: 'review',
  data: hostReview({ submitted_at: new Date(api.clock.now().getTime() - MINUTE), ...fields }),
})
const check = (fields: Parameters<typeof hostCheck>[0] = {}): HostEvent => ({
  kind: 'check',
  data: hostCheck({ started_at: api.clock.now(), completed_at: api.clock.now(), ...fields }),
})

test('a merged pull request is recorded when its checks have finished', async () => {
  const landed = await landIn(api, {
    listPullRequestCommits: async () => commitList(hostChangeCommit(HEAD)),
    compareCommits: async () => commitList(hostChangeCommit(HEAD), hostChangeCommit(MERGE)),
    readBranchRules: async () => ({
      ...{ requires_pull_request: true, required_approvals: 1, requires_code_owner_review: false },
      ...{ required_checks: ['test'], requires_signatures: false, blocks_force_pushes: true, blocks_deletion: true },
      requires_merge_queue: false,
      complete: true,
    }),
    readCodeOwners: async () => ({ path: '.github/CODEOWNERS', text: '* @grace\n' }),
    listChangedFiles: async () => ({ paths: ['src/cart.ts'], complete: true }),
  })
  await landed.tell(review(), pull(), push(), check({ status: 'in_progress', completed_at: null }))
  api.clock.advance(10 * MINUTE)
  await landed.work()
  assert.deepEqual(await landed.changes(), [])
  await landed.tell(check())
  await landed.work()
  const [change, ...others] = await landed.changes()
  assert.deepEqual(others, [])
  const { id, landed_at, checks, commits, pull_request, ...record } = change?.record ?? assert.fail()
  assert.match(id, /^chg_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(
    { ...record, reviews: record.reviews.map(({ state, stale }) => [state, stale]) },
    {
      version: 1,
      repository: { provider: 'github', host: 'github.com', id: '1001', full_name: 'acme/shop' },
      branch: 'main',
      landed_by: 'pull_request',
      pusher: null,
      forced: false,
      reviews: [['approved', false]],
      branch_rules: record.branch_rules,
      runs: [],
      code_owners: {
        path: '.github/CODEOWNERS',
        commit_sha: 'e'.repeat(40),
        rules: [{ pattern: '*', owners: ['@grace'], files: 1, approved_by: ['grace'], satisfied: true }],
      },
      security: null,
      deviations: [],
    },
  )
  assert.equal(pull_request?.merged_at, landed_at)
  assert.deepEqual([record.branch_rules?.required_checks, record.branch_rules?.complete], [['test'], true])
  assert.deepEqual([commits.head, commits.base, commits.merge], [HEAD, 'e'.repeat(40), MERGE])
  assert.deepEqual([commits.list.map(({ sha }) => sha), commits.complete], [[HEAD, MERGE], true])
  assert.deepEqual(
    checks.map(({ name, status, required, commit_sha }) => [name, status, required, commit_sha]),
    [['test', 'success', true, MERGE]],
  )
  const chain = { index: 0, hash: change?.chain.hash, previous_hash: null }
  assert.deepEqual([change?.chain, change?.last_index], [chain, 0])
})

test('without checks, the host is asked after 30 seconds; with none, the record is written', async () => {
  const asked: string[] = []
  const landed = await landIn(api, {
    listChecks: async (_, sha) => {
      asked.push(sha)
      return []
    },
  })
  await landed.tell(pull())
  api.clock.advance(MINUTE / 2 - 1)
  await landed.work()
  assert.deepEqual([asked, await landed.changes()], [[], []])
  api.clock.advance(1)
  await landed.work()
  assert.deepEqual(asked[0], MERGE)
  assert.equal((await landed.changes()).length, 1)
})

test('checks that do not finish delay the record until 60 minutes after landing', async () => {
  const landed = await landIn(api, {
    listChecks: async (repository, commit_sha) => [
      hostCheck({ repository, commit_sha, status: 'in_progress', completed_at: null }),
    ],
  })
  await landed.tell(pull())
  for (const minutes of [2, 57]) {
    api.clock.advance(minutes * MINUTE)
    await landed.work()
    assert.deepEqual(await landed.changes(), [])
  }
  api.clock.advance(MINUTE)
  await landed.work()
  const [record] = await landed.records()
  assert.deepEqual(
    record?.checks.map(({ status }) => status),
    ['in_progress', 'in_progress'],
  )
})

test('a landing of the past is recorded at once, without the present rules of the branch', async () => {
  const landed = await landIn(api, { readBranchRules: () => assert.fail('the rules of then are unknown') })
  await landed.tell({ kind: 'pull_request', data: hostPullRequest() })
  api.clock.advance(3 * SECOND)
  await landed.work()
  const [record] = await landed.records()
  assert.deepEqual([record?.branch_rules, record?.deviations], [null, ['no_review']])
})

test('a direct push is a change of its own; the same push again is not', async () => {
  const landed = await landIn(api, {
    compareCommits: async () => commitList(hostChangeCommit(OTHER, { signature: null }), hostChangeCommit(MERGE)),
  })
  const pushed = push()
  await landed.tell(pushed, check(), pushed)
  api.clock.advance(3 * SECOND)
  await landed.work()
  await landed.tell(pushed)
  api.clock.advance(3 * MINUTE)
  await landed.work()
  const [record, ...others] = await landed.records()
  assert.deepEqual(others, [])
  assert.deepEqual(
    [record?.landed_by, record?.pull_request, record?.pusher?.login, record?.deviations],
    ['push', null, 'ada', ['direct_push']],
  )
  assert.deepEqual(
    [record?.commits.head, record?.commits.base, record?.commits.list.map(({ sha }) => sha)],
    [MERGE, 'e'.repeat(40), [OTHER, MERGE]],
  )
})

test('a push that mixes a merged pull request with other commits is a change for the rest', async () => {
  const landed = await landIn(api, {
    compareCommits: async () => commitList(hostChangeCommit(HEAD), hostChangeCommit(MERGE), hostChangeCommit(OTHER)),
    listPullRequestCommits: async () => commitList(hostChangeCommit(HEAD)),
  })
  await landed.tell(
    push({ after: OTHER, commits: pushedCommits(HEAD, MERGE, OTHER) }),
    pull(),
    check(),
    check({ commit_sha: OTHER }),
  )
  api.clock.advance(3 * SECOND)
  await landed.work()
  const records = await landed.records()
  assert.deepEqual(
    records.map(({ landed_by, commits }) => [landed_by, commits.merge, commits.list.map(({ sha }) => sha)]).sort(),
    [
      ['pull_request', MERGE, [HEAD, MERGE]],
      ['push', OTHER, [OTHER]],
    ],
  )
})

test('a pushed commit of a pull request whose event is late is no change of its own', async () => {
  const merged = hostPullRequest(now())
  const landed = await landIn(api, {
    readCommits: async (_, commits) =>
      commits.map(({ sha }) => ({
        ...{ sha, message: null, author: null, workflow_blob: null },
        merged_pull_request: sha === MERGE ? { number: 7, url: null } : null,
      })),
    readPullRequest: async () => merged,
  })
  await landed.tell(push(), check())
  for (let count = 0; count < 3; count += 1) {
    api.clock.advance(3 * SECOND)
    await landed.work()
  }
  await landed.tell({ kind: 'pull_request', data: merged })
  await landed.work()
  const records = await landed.records()
  assert.deepEqual(
    records.map(({ landed_by, pull_request }) => [landed_by, pull_request?.number]),
    [['pull_request', 7]],
  )
})

test('a merge queue lands several pull requests with one push', async () => {
  const [first, second] = ['1'.repeat(40), '2'.repeat(40)]
  const landed = await landIn(api, {
    compareCommits: async () => commitList(hostChangeCommit(first), hostChangeCommit(second)),
  })
  const queued = push({
    after: second,
    commits: pushedCommits(first, second),
    by_merge_queue: true,
    pusher: hostAccount({ login: 'queue', is_bot: true }),
  })
  const merged = (number: number, sha: string) =>
    pull({
      number,
      head: { ref: `topic-${number}`, sha: `${number}`.repeat(40), repository_id: '1001' },
      merge_commit_sha: sha,
    })
  await landed.tell(
    merged(8, second),
    queued,
    merged(9, first),
    check({ commit_sha: first }),
    check({ commit_sha: second }),
  )
  api.clock.advance(3 * SECOND)
  await landed.work()
  const records = await landed.records()
  assert.deepEqual(
    records.map(({ landed_by, pull_request, commits }) => [landed_by, pull_request?.number, commits.merge]).sort(),
    [
      ['merge_queue', 8, second],
      ['merge_queue', 9, first],
    ],
  )
})

test('a pull request into another branch is no change, and neither is a push to one', async () => {
  const landed = await landIn(api)
  await landed.tell(pull({ base: { ref: 'release', sha: OTHER } }), push({ ref: 'refs/heads/release' }))
  api.clock.advance(3 * MINUTE)
  await landed.work()
  assert.deepEqual(await landed.changes(), [])
})

test('another tracked branch changes no record and adds none', async () => {
  const landed = await landIn(api)
  const merged = pull()
  await landed.tell(merged, check())
  api.clock.advance(3 * SECOND)
  await landed.work()
  const before = await landed.changes()
  const renamed = hostRepository({ default_branch: 'trunk', updated_at: api.clock.now() })
  await landed.tell({ kind: 'repository', data: { repository: renamed, change: 'changed' } }, merged)
  await landed.tell(pull({ number: 8, repository: renamed, merge_commit_sha: OTHER }))
  api.clock.advance(3 * MINUTE)
  await landed.work()
  assert.deepEqual(await landed.changes(), before)
  assert.equal(before.length, 1)
})

test('a merge whose commit is unknown waits for it', async () => {
  const landed = await landIn(api)
  await landed.tell(pull({ merge_commit_sha: null }))
  api.clock.advance(61 * MINUTE)
  await landed.work()
  assert.deepEqual(await landed.changes(), [])
  await landed.tell(pull(now()))
  api.clock.advance(3 * SECOND)
  await landed.work()
  assert.deepEqual((await landed.records())[0]?.commits.merge, MERGE)
})

test('a host that is down delays the record until the deadline; then unknown facts are null', async () => {
  const down = async () => {
    throw new HostUnavailable('down')
  }
  const landed = await landIn(api, {
    ...{ listRepositories: down, listReviews: down, listChecks: down, listPullRequestCommits: down },
    ...{ compareCommits: down, readBranchRules: down, readCodeOwners: down, readCommits: down },
  })
  await landed.tell(pull(), push(), check())
  for (let minutes = 0; minutes < 59; minutes += 1) {
    api.clock.advance(MINUTE)
    await landed.work()
    assert.deepEqual(await landed.changes(), [])
  }
  api.clock.advance(2 * MINUTE)
  await landed.work()
  const [record, ...others] = await landed.records()
  assert.deepEqual(others, [])
  assert.deepEqual([record?.branch_rules, record?.code_owners, record?.commits.complete], [null, null, false])
  assert.deepEqual(
    record?.commits.list.map(({ sha }) => sha),
    [MERGE],
  )
})

test('an endpoint that fails does not delay the record for long', async () => {
  const landed = await landIn(api, {
    readBranchRules: async () => {
      throw new HostUnavailable('500')
    },
  })
  await landed.tell(pull(), check())
  for (let tries = 0; tries < 4; tries += 1) {
    api.clock.advance(20 * SECOND)
    await landed.work()
  }
  assert.deepEqual((await landed.records())[0]?.branch_rules, null)
})

test('a repository without a connection is recorded with what is known', async () => {
  const landed = await landIn(api)
  await landed.tell(pull(), check())
  await landed.services.sql`
    update codehost_connections set status = 'suspended' where org_id = ${landed.source.org_id}`
  for (let minutes = 0; minutes < 62; minutes += 1) {
    api.clock.advance(MINUTE)
    await landed.work()
  }
  assert.equal((await landed.changes()).length, 1)
})

test('a landing that a fact has woken is not postponed by a pass that read it before', async () => {
  const landed = await landIn(api)
  await landed.tell(pull(), check({ status: 'in_progress', completed_at: null }))
  const { sql } = landed.services
  const repository = { org_id: landed.source.org_id, provider: 'github', repository_id: '1001' }
  const later = new Date(api.clock.now().getTime() + 60 * MINUTE)
  const [read] = await listDueLandings(sql, repository, { now: later, limit: 1 })
  const landing = read ?? assert.fail()
  const woken = new Date(api.clock.now().getTime() + SECOND)
  await updateLandingDue(sql, landing, { ...landing, due_at: woken })
  await updateLandingDue(sql, landing, { ...landing, due_at: later })
  assert.deepEqual(await findNextDue(sql, repository), woken)
})
