import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TrustClass } from '../../ci/runs/trust.ts'
import { getHostlessName, isNamed, mergeRepositoryNames, selectRun } from './read-repository-inputs.ts'

const makeRun = (id: string, ref: string | null, trust: TrustClass = 'verified') => ({ id, attempt: 1, ref, trust })
const RUNS = [
  makeRun('tag', 'refs/tags/v1'),
  makeRun('topic', 'refs/heads/topic'),
  makeRun('release', 'release/2'),
  makeRun('main', 'refs/heads/main'),
  makeRun('older', 'main'),
]
const bound = (branches: string[] | null) => ({ environments: null, repositories: null, branches })
const chosen = (branches: string[] | null, tracked: string | null) =>
  selectRun(RUNS, bound(branches), tracked, { trust: null })?.id ?? null

test('the newest run of a branch in the bindings is chosen, whatever branch is tracked', () => {
  assert.equal(chosen(['release/*'], 'main'), 'release')
  assert.equal(chosen(['main'], null), 'main')
  assert.equal(chosen(['*'], 'main'), 'tag')
})

test('without branches in the bindings, the newest run of the tracked branch is chosen', () => {
  assert.equal(chosen(null, 'main'), 'main')
  assert.equal(chosen(null, 'refs/heads/topic'), 'topic')
})

test('without a tracked branch, the newest run is chosen', () => {
  assert.equal(chosen(null, null), 'tag')
})

test('the newest run that the rule admits is chosen; without one, the newest of all', () => {
  const runs = [makeRun('key', 'main', 'self_reported'), makeRun('token', 'main')]
  const choose = (trust: 'any' | null, of = runs) => selectRun(of, bound(null), 'main', { trust })?.id
  assert.deepEqual([choose(null), choose('any'), choose(null, runs.slice(0, 1))], ['token', 'key', 'key'])
})

test('no run is chosen if none matches', () => {
  assert.equal(chosen(['staging'], 'main'), null)
  assert.equal(chosen(null, 'develop'), null)
})

test('a repository from several sources is listed once', () => {
  const names = {
    runs: ['github.com/acme/api', 'gitlab.com/acme/api'],
    linked: [
      { host: 'github.com', full_name: 'Acme/API' },
      { host: 'github.com', full_name: 'acme/web' },
    ],
    reported: ['acme/api', 'ACME/WEB', 'acme/only'],
  }
  assert.deepEqual(mergeRepositoryNames(names), [
    'github.com/acme/api',
    'gitlab.com/acme/api',
    'github.com/acme/web',
    'acme/only',
  ])
})

test('a report is about every repository of its name', () => {
  assert.ok(isNamed('github.com/acme/api', 'Acme/api'))
  assert.ok(isNamed('acme/api', 'acme/api'))
  assert.ok(!isNamed('github.com/acme/api', 'api'))
})

test('only a name with a host has a name without it', () => {
  assert.equal(getHostlessName('github.com/acme/api'), 'acme/api')
  assert.equal(getHostlessName('acme/api'), null)
})
