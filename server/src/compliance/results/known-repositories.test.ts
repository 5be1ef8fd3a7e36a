import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHostlessName, isNamed, mergeRepositoryNames } from './known-repositories.ts'

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
