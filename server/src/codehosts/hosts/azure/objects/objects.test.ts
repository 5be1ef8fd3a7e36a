import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostRepository } from '../../../host-repository.ts'
import { parseAlert } from '../alerts.ts'
import { branchRulesOf, parsePolicy, requiredPipelines } from '../branch-rules.ts'
import { newestAttempt, parseBuild, runOf } from '../runs.ts'
import { type DeploymentPlace, deploymentIdOf, parseDeploymentId } from './deployment-id.ts'
import { environmentOf, parseCheck } from '../environments.ts'
import { timeOrNull } from './fields.ts'
import { accountOf } from './identity.parser.ts'
import { parsePullRequest, pullRequestOf } from './pull-request.parser.ts'
import { parseIteration, parseThread, reviewsOf } from '../reviews.ts'
import { jobIdOf, parseJobId, parseRunId } from './run-id.ts'

const PROJECT = 'be9b3917-87e6-42a4-a549-2bc06a7a878f'
const REPOSITORY_ID = '278d5cd2-584d-4b63-824a-2ba458937249'
const repository: HostRepository = {
  provider: 'azure',
  host: 'dev.azure.com',
  id: REPOSITORY_ID,
  full_name: 'acme/shop/_git/shop',
  owner_id: PROJECT,
  default_branch: 'main',
  html_url: 'https://dev.azure.com/acme/shop/_git/shop',
  private: true,
  archived: false,
  updated_at: null,
}

test('ids of runs, jobs and deployments are read back, and others are refused', () => {
  assert.deepEqual(parseRunId(`${PROJECT}_12`), { project: PROJECT, build: 12 })
  for (const id of ['12', `${PROJECT}_0`, `${PROJECT}_1/2`, `../${PROJECT}_1`]) assert.equal(parseRunId(id), null)
  const job = { project: PROJECT, build: 12, attempt: 3, record: REPOSITORY_ID }
  assert.deepEqual(parseJobId(jobIdOf(job)), job)
  const places: DeploymentPlace[] = [7, { name: 'prod_eu/1' }, { stage: 'Deploy_to prod' }]
  for (const environment of places)
    for (const attempt of [null, 2]) {
      const name = { project: PROJECT, build: 12, environment, attempt }
      assert.deepEqual(parseDeploymentId(deploymentIdOf(name)), name)
    }
  assert.equal(parseDeploymentId(`${PROJECT}_12`), null)
})

test('times may lack a zone and have seven digits; the year 1 is none', () => {
  assert.equal(timeOrNull('2022-11-21T16:42:52.7761408Z')?.toISOString(), '2022-11-21T16:42:52.776Z')
  assert.equal(timeOrNull('2022-11-21T16:42:52')?.toISOString(), '2022-11-21T16:42:52.000Z')
  assert.equal(timeOrNull('0001-01-01T00:00:00'), null)
})

test('services are bots, and have their display name as login', () => {
  const service = { id: 'A', displayName: 'Shop Build Service', uniqueName: 'Build\\1234', descriptor: 'svc.abc' }
  assert.deepEqual([accountOf(service)?.login, accountOf(service)?.is_bot], ['Shop Build Service', true])
  const person = { id: 'B', displayName: 'Ada', uniqueName: 'ada@acme.example', descriptor: 'aad.abc' }
  assert.deepEqual([accountOf(person)?.login, accountOf(person)?.is_bot], ['ada@acme.example', false])
  assert.equal(accountOf({ id: '' }), null)
})

test('the build of a pull request has the head of the pull request, not its merge', () => {
  const parameters = JSON.stringify({
    'system.pullRequest.pullRequestId': '17',
    'system.pullRequest.sourceBranch': 'refs/heads/topic',
    'system.pullRequest.sourceCommitId': 'b'.repeat(40),
  })
  const build = parseBuild({
    id: 12,
    status: 'completed',
    result: 'partiallySucceeded',
    reason: 'pullRequest',
    queueTime: '2026-03-01T10:00:00.1234567Z',
    sourceBranch: 'refs/pull/17/merge',
    sourceVersion: 'a'.repeat(40),
    project: { id: PROJECT },
    repository: { id: REPOSITORY_ID, type: 'TfsGit' },
    parameters,
    triggerInfo: { 'pr.number': '17', 'pr.isFork': 'True' },
  })
  const run = runOf(build, newestAttempt(build, 1, null), repository)
  assert.deepEqual(
    [run.status, run.kind, run.ref, run.commit.sha],
    ['success', 'pull_request', 'refs/heads/topic', 'b'.repeat(40)],
  )
  assert.deepEqual([run.head_repository_id, run.pull_requests[0]?.number], ['unknown', 17])
  assert.equal(run.azure?.result, 'partiallySucceeded')
})

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
  const reviews = reviewsOf({ pull, threads, iterations, repository })
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
    const read = pullRequestOf(parsePullRequest({ ...pull, status }), null, repository)
    return [read.state, read.merge_commit_sha, read.merged_by?.login, read.closed_at !== null]
  }
  assert.deepEqual(stateOf('active'), ['open', null, undefined, false])
  assert.deepEqual(stateOf('abandoned'), ['closed', null, undefined, true])
  assert.deepEqual(stateOf('completed'), ['merged', 'merge', 'ada', true])
})

test('checks on an environment are rules: approvals, delays, branch control and others', () => {
  const task = (id: number, name: string, displayName: string) => ({
    id,
    type: { name: 'Task Check' },
    settings: { displayName, definitionRef: { name } },
  })
  const approvers = [ada, { displayName: 'Owners', uniqueName: 'vstfs:///x\\y', isContainer: true }]
  const values = [
    { id: 1, type: { name: 'Approval' }, settings: { approvers } },
    task(2, 'InvokeRESTAPI', 'Shiplock'),
    task(3, 'evaluatebranchProtection', 'Branch control'),
    task(4, 'evaluateBusinessHours', 'Office hours'),
    task(5, 'AzureFunction', 'Tests passed'),
    { id: 6, type: { name: 'ExclusiveLock' } },
    { ...task(7, 'AzureFunction', 'Off'), isDisabled: true },
  ]
  const checks = values.flatMap((value) => parseCheck(value) ?? [])
  const own = new Set(checks.filter(({ id }) => id === 2))
  assert.deepEqual(environmentOf({ id: 1, name: 'production' }, checks, own), {
    name: 'production',
    rule_types: ['required_reviewers', 'customRule', 'branch_policy', 'wait_timer'],
    reviewers: ['ada'],
    reviewer_teams: ['Owners'],
    custom_rules: [
      { app_id: '2', slug: 'Shiplock', is_own: true },
      { app_id: '5', slug: 'Tests passed', is_own: false },
    ],
  })
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
  assert.deepEqual(requiredPipelines(policies), [4])
  const rules = branchRulesOf(policies, ['CI'])
  assert.deepEqual([rules.required_approvals, rules.required_checks], [2, ['CI', 'ci/lint']])
})

const alert = {
  alertId: 41,
  alertType: 'secret',
  state: 'dismissed',
  title: 'Azure storage key',
  firstSeenDate: '2026-03-01T10:00:00Z',
  truncatedSecret: 'abc...xyz',
  dismissal: { dismissalType: 'fixed', message: 'Rotated' },
}

test('a secret that was dismissed as fixed is fixed; no part of its value is read', () => {
  const at = new Date('2026-03-02T10:00:00Z')
  const read = parseAlert(alert, repository, at)
  assert.deepEqual(
    [read?.type, read?.status, read?.severity, read?.updated_at],
    ['secret_scanning', 'fixed', 'critical', at],
  )
  assert.ok(!JSON.stringify(read).includes('abc'))
  const code = parseAlert({ ...alert, alertType: 'code', severity: 'warning' }, repository, at)
  assert.deepEqual([code?.status, code?.dismissal?.reason, code?.severity], ['dismissed', 'fixed', 'medium'])
  assert.equal(parseAlert({ ...alert, alertType: 'license' }, repository, at), null)
})
