import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignCommits, type MergedPull, type PushedCommit } from './pushed-commits.ts'

const commit = (sha: string, message = sha, name = 'Ada'): PushedCommit => ({
  sha,
  message,
  author: { name, email: `${name}@example.com` },
})

const pull = (
  number: number,
  merge: string | null,
  commits: PushedCommit[] | null,
  heads: string[] = [],
): MergedPull => ({
  number,
  merge_commit_sha: merge,
  commits,
  heads,
})

function assigned(pushed: PushedCommit[], ...pulls: MergedPull[]) {
  const { landed, rest } = assignCommits(pushed, pulls)
  return { landed: Object.fromEntries([...landed].map(([number, shas]) => [number, [...shas]])), rest }
}

test('a merge commit brings the commits of its pull request', () => {
  const pushed = [commit('a'), commit('b'), commit('m')]
  const found = assigned(pushed, pull(7, 'm', [commit('a'), commit('b')]))
  assert.deepEqual(found, { landed: { 7: ['a', 'b', 'm'] }, rest: [] })
})

test('a squash brings one commit; those before it are not of the pull request', () => {
  const found = assigned([commit('x'), commit('s', 'Fix (#7)')], pull(7, 's', [commit('a'), commit('b')]))
  assert.deepEqual(found, { landed: { 7: ['s'] }, rest: ['x'] })
})

test('a rebase creates the commits anew, with their messages and authors', () => {
  const own = [commit('a', 'one'), commit('b', 'two'), commit('c', 'three')]
  const pushed = [commit('x', 'one'), commit('A', 'one'), commit('B', 'two'), commit('C', 'three')]
  assert.deepEqual(assigned(pushed, pull(7, 'C', own)), { landed: { 7: ['A', 'B', 'C'] }, rest: ['x'] })
  const forged = [commit('A', 'one'), commit('B', 'two', 'Eve'), commit('C', 'three')]
  assert.deepEqual(assigned(forged, pull(7, 'C', own)).rest, ['A', 'B'])
})

test('commits after the merge are not of the pull request', () => {
  assert.deepEqual(assigned([commit('m'), commit('x')], pull(7, 'm', [commit('m')])).rest, ['x'])
})

test('without the commits of a pull request, all commits up to its merge are taken for them', () => {
  const pushed = ['a', 'b', 'm', 'c', 'n', 'x'].map((sha) => commit(sha))
  const found = assigned(pushed, pull(7, 'm', null), pull(8, 'n', null))
  assert.deepEqual(found, { landed: { 7: ['a', 'b', 'm'], 8: ['c', 'n'] }, rest: ['x'] })
})

test('a pull request whose merge commit is unknown brings the commits that were its newest', () => {
  const found = assigned([commit('h'), commit('x')], pull(7, null, null, ['h']))
  assert.deepEqual(found, { landed: { 7: ['h'] }, rest: ['x'] })
})

test('without a pull request, everything remains', () => {
  assert.deepEqual(assigned([commit('a'), commit('b')]), { landed: {}, rest: ['a', 'b'] })
})
