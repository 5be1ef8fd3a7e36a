import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { HostEvent } from '../../src/codehosts/host-event.ts'
import { readChainState } from '../../src/provenance/chain/read-chain-state.ts'
import type { ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import { openHostReads } from '../../src/provenance/changes/host-reads.ts'
import { listDueLandings } from '../../src/provenance/changes/landing.store.ts'
import { recordChanges } from '../../src/provenance/changes/record-changes.ts'
import { settleLanding } from '../../src/provenance/changes/record-landing.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { verifyLink } from '../support/chains.ts'
import {
  hostAccount,
  hostChangeCommit,
  hostCheck,
  hostPullRequest,
  hostPush,
  hostReview,
  hostRun,
  pushedCommits,
} from '../support/host-objects.ts'
import { commitList, type Landed, landIn } from '../support/landings.ts'
import { drainQueue } from '../support/queue.ts'

const sha = (digit: string) => digit.repeat(40)
/** The branch: a merge commit of pull request 7, a direct push, then a queue with 8 and 9. */
const [BASE, HEAD, MERGE, DIRECT, EIGHTH, NINTH] = ['0', 'b', 'c', 'd', '8', '9'].map(sha) as [
  ...[string, string, string, string, string, string],
]

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const at = (minutes: number) => new Date(hostRun().created_at.getTime() + minutes * 60_000)
const queued = (number: number, merge_commit_sha: string): HostEvent => {
  const head = { ref: `topic-${number}`, sha: `${number}0`.repeat(20), repository_id: '1001' }
  const times = { merged_at: at(30), closed_at: at(30), updated_at: at(30) }
  return { kind: 'pull_request', data: hostPullRequest({ number, head, merge_commit_sha, ...times }) }
}
const finished = (id: string, commit_sha: string): HostEvent => ({
  kind: 'check',
  data: hostCheck({ id, commit_sha, completed_at: at(40) }),
})

const STORY: HostEvent[] = [
  {
    kind: 'pull_request',
    data: hostPullRequest({ state: 'open', merge_commit_sha: null, merged_at: null, updated_at: at(1) }),
  },
  { kind: 'review', data: hostReview() },
  { kind: 'review', data: hostReview({ id: '2', commit_sha: BASE, submitted_at: at(1) }) },
  { kind: 'pull_request', data: hostPullRequest() },
  { kind: 'push', data: hostPush({ before: BASE, after: MERGE, commits: pushedCommits(HEAD, MERGE) }) },
  { kind: 'check', data: hostCheck({ status: 'in_progress', completed_at: null }) },
  finished('71', MERGE),
  { kind: 'push', data: hostPush({ before: MERGE, after: DIRECT, pushed_at: at(20) }) },
  finished('72', DIRECT),
  {
    kind: 'push',
    data: hostPush({
      ...{ before: DIRECT, after: NINTH, commits: pushedCommits(EIGHTH, NINTH), by_merge_queue: true },
      ...{ pusher: hostAccount({ login: 'queue', is_bot: true }), pushed_at: at(30) },
    }),
  },
  queued(8, EIGHTH),
  queued(9, NINTH),
  finished('73', EIGHTH),
  finished('74', NINTH),
  {
    kind: 'run',
    data: hostRun({
      commit: { sha: MERGE, message: null },
      status: 'failure',
      completed_at: at(41),
      updated_at: at(41),
    }),
  },
]

const PULLS = STORY.flatMap((event) => (event.kind === 'pull_request' ? event.data : []))

/** A host that knows the whole story, whatever has been told. */
function newLanding(): Promise<Landed> {
  const branch = [HEAD, MERGE, DIRECT, EIGHTH, NINTH]
  return landIn(api, {
    compareCommits: async (_, base, head) =>
      commitList(
        ...branch.slice(branch.indexOf(base) + 1, branch.indexOf(head) + 1).map((each) => hostChangeCommit(each)),
      ),
    listPullRequestCommits: async (_, number) =>
      commitList(hostChangeCommit(PULLS.findLast((pull) => pull.number === number)?.head.sha ?? '')),
    readPullRequest: async (_, number) => PULLS.findLast((pull) => pull.number === number) ?? null,
    readCommits: async (_, commits) =>
      commits.map((commit) => {
        const merged = PULLS.find(({ merge_commit_sha }) => merge_commit_sha === commit.sha)
        const merged_pull_request = merged ? { number: merged.number, url: merged.url } : null
        return { sha: commit.sha, message: null, author: null, workflow_blob: null, merged_pull_request }
      }),
    listReviews: async (_, number) =>
      STORY.flatMap(({ kind, data }) => (kind === 'review' && data.pull_request === number ? data : [])),
    listChecks: async (_, commit) =>
      STORY.flatMap(({ kind, data }) =>
        kind === 'check' && data.commit_sha === commit && data.status === 'success' ? data : [],
      ),
  })
}

/** The records with what amended them, without ids and times of recording. */
async function statedBy(landed: Landed): Promise<unknown[]> {
  const changes = await landed.changes()
  const stated = changes.map(({ record, amendments }) => {
    const { id: _, runs, deviations, ...facts } = record as ChangeRecord
    return {
      ...facts,
      runs: [...runs, ...amendments.flatMap((amendment) => amendment.facts.run ?? [])],
      deviations: [
        ...new Set([...deviations, ...amendments.flatMap((amendment) => amendment.facts.deviations)]),
      ].sort(),
      amended: amendments.flatMap(({ kind }) => (kind === 'run' ? [] : kind)),
    }
  })
  return stated.sort((a, b) => (a.commits.merge < b.commits.merge ? -1 : 1))
}

test('any order and repetition of events, with recording in between, gives the same records', async () => {
  const inOrder = await newLanding()
  await inOrder.tell(...STORY)
  api.clock.advance(3000)
  await inOrder.work()
  const expected = await statedBy(inOrder)
  assert.deepEqual(
    (expected as ChangeRecord[]).map(({ landed_by, pull_request, commits }) => [
      ...[landed_by, pull_request?.number, commits.merge, commits.list.map((commit) => commit.sha)],
    ]),
    [
      ['merge_queue', 8, EIGHTH, ['80'.repeat(20), EIGHTH]],
      ['merge_queue', 9, NINTH, ['90'.repeat(20), NINTH]],
      ['pull_request', 7, MERGE, [HEAD, MERGE]],
      ['push', undefined, DIRECT, [DIRECT]],
    ],
  )
  const told = fc
    .shuffledSubarray(STORY, { minLength: STORY.length })
    .chain((events) => fc.array(fc.constantFrom(...STORY), { maxLength: 4 }).map((again) => [...events, ...again]))
  await fc.assert(
    fc.asyncProperty(told, async (events) => {
      const landed = await newLanding()
      await landed.tell(...events)
      api.clock.advance(3000)
      await landed.work()
      assert.deepEqual(await statedBy(landed), expected)
    }),
    { numRuns: 25 },
  )
})

test('a push that is looked at before the events of its pull requests gives the same records', async () => {
  const landed = await newLanding()
  for (const event of STORY.toSorted((a, b) => (a.kind === 'push' ? 0 : 1) - (b.kind === 'push' ? 0 : 1))) {
    await landed.tell(event)
    api.clock.advance(3000)
    await landed.work()
  }
  assert.deepEqual((await landed.records()).map(({ landed_by, commits }) => [landed_by, commits.merge]).sort(), [
    ['merge_queue', EIGHTH],
    ['merge_queue', NINTH],
    ['pull_request', MERGE],
    ['push', DIRECT],
  ])
})

test('events and jobs side by side write one record for each landing, in one chain', async () => {
  const landed = await newLanding()
  const { sql } = landed.services
  await Promise.all([...STORY, ...STORY].map((event) => landed.tell(event).catch(() => landed.tell(event))))
  api.clock.advance(3000)
  const { org_id } = landed.source
  const repository = { org_id, provider: 'github', repository_id: '1001' }
  await Promise.all(Array.from({ length: 6 }, () => recordChanges(landed.services, repository)))
  await drainQueue({ ...api, services: landed.services })
  const links = await sql`select index from chain_links where org_id = ${org_id} and kind = 'record'`
  assert.equal(links.length, 4)
  assert.equal((await landed.changes()).length, 4)
  assert.deepEqual(await readChainState(landed.services, repository), { state: 'intact', breaks: [] })
  assert.deepEqual(await verifyLink(landed.services, repository, 0), { state: 'intact', breaks: [] })
})

test('one landing that several processes record at the same time has one record', async () => {
  const landed = await newLanding()
  await landed.tell(...STORY)
  api.clock.advance(3000)
  const { org_id } = landed.source
  const repository = { org_id, provider: 'github', repository_id: '1001' }
  const due = await listDueLandings(landed.services.sql, repository, { now: api.clock.now(), limit: 10 })
  assert.equal(due.length, 6)
  await Promise.all(
    [...due, ...due, ...due].map(async (landing) => {
      const reads = await openHostReads(landed.services, repository)
      await settleLanding({ services: landed.services, reads, rules: new Map(), landing })
    }),
  )
  assert.equal((await landed.changes()).length, 4)
  const links = await landed.services.sql`select index from chain_links where org_id = ${org_id} order by index`
  assert.deepEqual(
    links.map(({ index }) => index),
    [0, 1, 2, 3],
  )
})
