import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostRepository } from '../../host-repository.ts'
import { type DeploymentPlace, formatDeploymentId, parseDeploymentId } from './environments.ts'
import { formatJobId, parseJobId, parseRunId } from './jobs.ts'
import { parseBuild, toHostRun, toNewestAttempt } from './runs.ts'

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

test('ids of runs, jobs and deployments are read back, and others are refused', () => {
  assert.deepEqual(parseRunId(`${PROJECT}_12`), { project: PROJECT, build: 12 })
  for (const id of ['12', `${PROJECT}_0`, `${PROJECT}_1/2`, `../${PROJECT}_1`]) assert.equal(parseRunId(id), null)
  const job = { project: PROJECT, build: 12, attempt: 3, record: REPOSITORY_ID }
  assert.deepEqual(parseJobId(formatJobId(job)), job)
  const places: DeploymentPlace[] = [7, { name: 'prod_eu/1' }, { stage: 'Deploy_to prod' }]
  for (const environment of places)
    for (const attempt of [null, 2]) {
      const name = { project: PROJECT, build: 12, environment, attempt }
      assert.deepEqual(parseDeploymentId(formatDeploymentId(name)), name)
    }
  assert.equal(parseDeploymentId(`${PROJECT}_12`), null)
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
  const run = toHostRun(build, toNewestAttempt(build, 1, null), repository)
  assert.deepEqual(
    [run.status, run.kind, run.ref, run.commit.sha],
    ['success', 'pull_request', 'refs/heads/topic', 'b'.repeat(40)],
  )
  assert.deepEqual([run.head_repository_id, run.pull_requests[0]?.number], ['unknown', 17])
  assert.equal(run.azure?.result, 'partiallySucceeded')
})
