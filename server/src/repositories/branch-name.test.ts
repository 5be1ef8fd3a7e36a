import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTracked, parseBranchName } from './branch-name.ts'

test('a branch has one name, with or without refs/heads/', () => {
  assert.equal(parseBranchName('refs/heads/main'), 'main')
  assert.equal(parseBranchName('main'), 'main')
  assert.equal(parseBranchName('refs/heads/release/1.2'), 'release/1.2')
  assert.equal(parseBranchName('release/1.2'), 'release/1.2')
  assert.equal(parseBranchName('refs/heads/refs/heads/main'), 'refs/heads/main')
})

test('tags, pull requests and absent refs are no branches', () => {
  for (const ref of ['refs/tags/v1', 'refs/pull/1/merge', 'refs/merge-requests/1/head', 'refs/heads/', null]) {
    assert.equal(parseBranchName(ref), null, `${ref}`)
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
