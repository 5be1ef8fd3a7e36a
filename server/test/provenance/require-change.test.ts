import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { HostPullRequest } from '../../src/codehosts/host-change.ts'
import type { ApiError } from '../../src/platform/http/api-error.ts'
import { buildChangeId, findChange } from '../../src/provenance/changes/change.store.ts'
import { requireChange } from '../../src/provenance/changes/require-change.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { hostChangeCommit, hostPullRequest, hostPush } from '../support/host-objects.ts'
import { commitList, type Landed, landIn } from '../support/landings.ts'

const HEAD = 'b'.repeat(40)
const MERGE = 'c'.repeat(40)
const OTHER = 'd'.repeat(40)
const DIRECT = '1'.repeat(40)

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function landedWith(...pulls: Partial<HostPullRequest>[]): Promise<Landed> {
  const landed = await landIn(api, { listPullRequestCommits: async () => commitList(hostChangeCommit(HEAD)) })
  await landed.tell(...pulls.map((fields) => ({ kind: 'pull_request' as const, data: hostPullRequest(fields) })))
  return landed
}

async function record(landed: Landed): Promise<void> {
  api.clock.advance(3000)
  await landed.work()
}

async function refusal({ source, services }: Landed, id: string): Promise<unknown[]> {
  const error = await requireChange(services, source.org_id, id).then(() => assert.fail(`${id} is found`), String)
  const { status, code, details } = (await requireChange(services, source.org_id, id).catch((e) => e)) as ApiError
  assert.ok(error.length > 10)
  return [status, code, details.reason]
}

test('a change is found by its id and by its pull request, in its own organization', async () => {
  const landed = await landedWith({})
  await record(landed)
  const [change] = await landed.changes()
  const { source, services } = landed
  const id = change?.id ?? assert.fail()
  assert.deepEqual(await requireChange(services, source.org_id, id), change)
  assert.deepEqual(await requireChange(services, source.org_id, 'pr_github_1001_7'), change)
  const stranger = await landIn(api)
  for (const name of [id, 'pr_github_1001_7'])
    assert.deepEqual(await refusal({ ...landed, source: stranger.source }, name), [404, 'not_found', undefined])
})

test('404 for ids that name nothing', async () => {
  const landed = await landedWith({})
  for (const id of ['chg_01KAAAAAAAAAAAAAAAAAAAAAAA', 'pr_github_1001_8', 'pr_gitlab_1001_7', 'pr_github_7', '?'])
    assert.deepEqual(await refusal(landed, id), [404, 'not_found', undefined])
})

test('the reasons of pull requests without a change, until it has one', async () => {
  const landed = await landedWith(
    { number: 1, state: 'open', merged_at: null, merge_commit_sha: null },
    { number: 2, state: 'closed', merged_at: null, merge_commit_sha: null },
    { number: 3, merge_commit_sha: null },
    { number: 4, base: { ref: 'release', sha: OTHER } },
    { number: 5 },
  )
  const reasons = () => Promise.all([1, 2, 3, 4, 5].map((number) => refusal(landed, `pr_github_1001_${number}`)))
  assert.deepEqual(await reasons(), [
    [409, 'statement_unavailable', 'NOT_LANDED'],
    [409, 'statement_unavailable', 'NOT_LANDED'],
    [409, 'statement_unavailable', 'NO_COMMIT'],
    [404, 'not_found', 'NO_CHANGE'],
    [404, 'not_found', 'NO_CHANGE'],
  ])
  await record(landed)
  const change = await requireChange(landed.services, landed.source.org_id, 'pr_github_1001_5')
  assert.equal(change.record?.pull_request?.number, 5)
})

test('a commit finds the change that ends with it, else the newest one that lists it', async () => {
  const landed = await landedWith({}, { number: 8, merge_commit_sha: OTHER, merged_at: new Date('2026-03-02') })
  landed.answers.listPullRequestCommits = async () => commitList(hostChangeCommit(HEAD), hostChangeCommit(DIRECT))
  const pushed_at = new Date('2026-03-01')
  await landed.tell({ kind: 'push', data: hostPush({ before: null, after: DIRECT, pushed_at }) })
  api.clock.advance(120_000)
  await landed.work()
  const { org_id } = landed.source
  const find = async (sha: string) => {
    const { sql } = landed.services
    const [row] = await sql<{ id: string }[]>`
      select change.id
      from (select ${org_id}::uuid as org_id, 'github' as provider, '1001' as repository_id, ${sha} as commit_sha) asked
      cross join lateral (${buildChangeId(sql, org_id, 'asked')}) change`
    const change = row && (await findChange(sql, org_id, row.id))
    return change && [change.record?.landed_by, change.record?.pull_request?.number]
  }
  assert.deepEqual(await find(MERGE), ['pull_request', 7])
  assert.deepEqual(await find(OTHER), ['pull_request', 8])
  assert.deepEqual(await find(DIRECT), ['push', undefined])
  assert.deepEqual(await find(HEAD), ['pull_request', 8])
  assert.equal(await find('f'.repeat(40)), undefined)
})
