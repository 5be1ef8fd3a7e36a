import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newestBroken } from './broken.ts'

type Failures = Parameters<typeof newestBroken>[0]

const run = (id: string, branch: string | null, at: string, repository_full_name = 'acme/shop') =>
  ({ id, branch, repository_full_name, started_at: at, completed_at: at }) as Failures['runs'][number]

test('failures of default branches and of deployments are shown, newest first', () => {
  const runs = [run('topic', 'topic', '3'), run('main', 'main', '1'), run('release', 'release', '4', 'acme/api')]
  const deployment = { id: 'd', pipeline_run_id: 'other', repository_full_name: 'acme/shop', updated_at: '2' }
  const repositories = [{ full_name: 'acme/api', tracked_branch: 'release' }]
  const broken = newestBroken({ runs, deployments: [deployment as Failures['deployments'][number]], repositories })
  assert.deepEqual(
    broken.map(({ key }) => key),
    ['release', 'd', 'main'],
  )
})

test('a failed deployment stands for the run that makes it', () => {
  const deployment = { id: 'd', pipeline_run_id: 'r', repository_full_name: 'acme/shop', updated_at: '2' }
  const broken = newestBroken({
    runs: [run('r', 'main', '2')],
    deployments: [deployment as Failures['deployments'][number]],
    repositories: [],
  })
  assert.deepEqual(
    broken.map(({ key }) => key),
    ['d'],
  )
})
