import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostRepository } from '../../host-repository.ts'
import { collectRequiredPipelines, parseBranchRules, parsePolicy } from './branch-rules.ts'
import { parsePullRequest, toHostPullRequest } from './changes.ts'
import { parseIteration, parseThread, toHostReviews } from './reviews.ts'

const PROJECT = 'be9b3917-87e6-42a4-a549-2bc06a7a878f'
const REPOSITORY_ID = '278d5cd2-584d-4b63-824a-2ba458937249'
const repository: HostRepository = {
  provider: 'azure',
  host: 'dev.azure.com',
  id: REPOSITORY_ID,
  full_name: 'acme/shop/shop',
  owner_id: PROJECT,
  default_branch: 'main',
  html_url: 'https://dev.azure.com/acme/shop/_git/shop',
  private: true,
  archived: false,
  updated_at: null,
}

const ada = { id: 'a1', displayName: 'Ada', uniqueName: 'ada' }
const lin = { id: 'l1', displayName: 'Lin', uniqueName: 'lin' }

function voteThread(id: number, voter: object, vote: number, at: string) {
  const text = ($value: string) => ({ $type: 'System.String', $value })
  return parseThread({
    id,
    publishedDate: at,
    lastUpdatedDate: at,
    identities: { 1: voter },
    properties: {
      CodeReviewThreadType: text('VoteUpdate'),
      CodeReviewVoteResult: text(String(vote)),
      CodeReviewVotedByIdentity: text('1'),
    },
  })
}

test('votes are reviews with the commit and time of the vote; a vote that was reset is dismissed', () => {
  const pull = parsePullRequest({
    pullRequestId: 7,
    creationDate: '2026-03-01T10:00:00Z',
    sourceRefName: 'refs/heads/topic',
    targetRefName: 'refs/heads/main',
    status: 'active',
    reviewers: [
      { ...ada, vote: 10 },
      { ...lin, vote: 0 },
      { id: 'team', displayName: 'Team', isContainer: true, vote: 10 },
      { id: 'g1', uniqueName: 'grace', vote: -5 },
    ],
  })
  const threads = [
    voteThread(1, ada, -10, '2026-03-01T11:00:00Z'),
    voteThread(2, lin, 10, '2026-03-01T11:30:00Z'),
    voteThread(3, ada, 5, '2026-03-01T13:00:00Z'),
  ]
  const iterations = [
    parseIteration({ id: 1, createdDate: '2026-03-01T10:00:00Z', sourceRefCommit: { commitId: 'one' } }),
    parseIteration({ id: 2, createdDate: '2026-03-01T12:00:00Z', sourceRefCommit: { commitId: 'two' } }),
  ]
  const reviews = toHostReviews({ pull, threads, iterations, repository })
  assert.deepEqual(
    reviews.map(({ id, reviewer, state, commit_sha }) => [id, reviewer?.login, state, commit_sha]),
    [
      ['1', 'ada', 'changes_requested', 'one'],
      ['2', 'lin', 'dismissed', 'one'],
      ['3', 'ada', 'approved', 'two'],
      ['vote_g1_-5', 'grace', 'changes_requested', 'one'],
    ],
  )
})

test('the merge commit of a pull request that is open is only a try', () => {
  const pull = {
    pullRequestId: 7,
    creationDate: '2026-03-01T10:00:00Z',
    sourceRefName: 'refs/heads/topic',
    targetRefName: 'refs/heads/main',
    lastMergeCommit: { commitId: 'merge' },
    closedDate: '2026-03-02T10:00:00Z',
    closedBy: ada,
  }
  const stateOf = (status: string) => {
    const read = toHostPullRequest(parsePullRequest({ ...pull, status }), null, repository)
    return [read.state, read.merge_commit_sha, read.merged_by?.login, read.closed_at !== null]
  }
  assert.deepEqual(stateOf('active'), ['open', null, undefined, false])
  assert.deepEqual(stateOf('abandoned'), ['closed', null, undefined, true])
  assert.deepEqual(stateOf('completed'), ['merged', 'merge', 'ada', true])
})

test('policies of a branch: only those that block count, the strictest of each', () => {
  const policy = (id: string, settings: object, isBlocking = true) =>
    parsePolicy({ isEnabled: true, isBlocking, type: { id }, settings }) ?? []
  const policies = [
    policy('fa4e907d-c16b-4a4c-9dfa-4906e5d171dd', { minimumApproverCount: 2 }),
    policy('fa4e907d-c16b-4a4c-9dfa-4906e5d171dd', { minimumApproverCount: 5 }, false),
    policy('CBDC66DA-9728-4AF8-AADA-9A5A32E4A226', { statusGenre: 'ci', statusName: 'lint' }),
    policy('0609b952-1397-4640-95ec-e00a01b2c241', { buildDefinitionId: 4 }),
  ].flat()
  assert.deepEqual(collectRequiredPipelines(policies), [4])
  const rules = parseBranchRules(policies, ['CI'])
  assert.deepEqual([rules.required_approvals, rules.required_checks], [2, ['CI', 'ci/lint']])
})
