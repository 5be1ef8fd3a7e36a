import assert from 'node:assert/strict'
import { test } from 'node:test'
import { branchName, isTracked } from './branch-name.ts'

test('a branch has one name, with or without refs/heads/', () => {
  assert.equal(branchName('refs/heads/main'), 'main')
  assert.equal(branchName('main'), 'main')
  assert.equal(branchName('refs/heads/release/1.2'), 'release/1.2')
  assert.equal(branchName('release/1.2'), 'release/1.2')
  assert.equal(branchName('refs/heads/refs/heads/main'), 'refs/heads/main')
})

test('tags, pull requests and absent refs are no branches', () => {
  for (const ref of ['refs/tags/v1', 'refs/pull/1/merge', 'refs/merge-requests/1/head', 'refs/heads/', null]) {
    assert.equal(branchName(ref), null, `${ref}`)
  }
})

test('a report is tracked on the tracked branch, without a ref, and where no branch is known', () => {
  assert.equal(isTracked('refs/heads/main', 'main'), true)
  assert.equal(isTracked('main', 'refs/heads/main'), true)
  assert.equal(isTracked(null, 'main'), true)
  assert.equal(isTracked('refs/tags/v1', null), true)
  assert.equal(isTracked('dev', 'main'), false)
})

test('a tag or a pull request is never the tracked branch, even if its ref is written there', () => {
  assert.equal(isTracked('refs/tags/main', 'main'), false)
  assert.equal(isTracked('refs/pull/1/merge', 'main'), false)
  assert.equal(isTracked('refs/tags/v1', 'refs/tags/v1'), false)
  assert.equal(isTracked('refs/tags/v1', 'refs/pull/1/merge'), false)
})
