import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimedMembers } from './claimed-members.ts'

const NONE = {
  github_run_id: null,
  workflow_path: null,
  repository_id: null,
  repository_owner_id: null,
  run_number: null,
}
const GITHUB = {
  run_id: '16',
  run_number: '10',
  repository: 'acme/shop',
  repository_id: '74',
  repository_owner_id: '65',
}

test('a run of GitHub Actions has the ids, the number and the workflow file of the claims', () => {
  const claims = { ...GITHUB, workflow_ref: 'acme/shop/.github/workflows/ci@v2.yml@refs/heads/main' }
  assert.deepEqual(claimedMembers({ provider: 'github', claims }), {
    ...{ github_run_id: 16, repository_id: 74, repository_owner_id: 65, run_number: 10 },
    workflow_path: '.github/workflows/ci@v2.yml',
  })
})

test('a workflow of another repository, a missing one and ids that are not numbers are null', () => {
  for (const workflow_ref of ['other/shop/.github/workflows/ci.yml@refs/heads/main', 'acme/shop/ci.yml', '']) {
    const claims = { ...GITHUB, workflow_ref }
    assert.equal(claimedMembers({ provider: 'github', claims }).workflow_path, null, workflow_ref)
  }
  assert.deepEqual(claimedMembers({ provider: 'github', claims: { repository_id: '9'.repeat(19) } }), NONE)
  assert.deepEqual(claimedMembers({ provider: 'azure', claims: { run_id: '7', rpo_id: 'a' } }), NONE)
})

test('a run of GitLab CI has the ids of its project and namespace', () => {
  const claims = { project_id: '20', namespace_id: '72', pipeline_id: '5' }
  const expected = { ...NONE, repository_id: 20, repository_owner_id: 72 }
  assert.deepEqual(claimedMembers({ provider: 'gitlab', claims }), expected)
})
