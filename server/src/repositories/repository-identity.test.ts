import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROVIDERS } from '../codehosts/catalogue.ts'
import {
  isHost,
  isRepositoryName,
  isSameEnvironment,
  isTracked,
  matchRepository,
  normalizeRepositoryId,
  parseBranchName,
} from './repository-identity.ts'

const UUID = '0f0e0d0c-0b0a-4908-8706-050403020100'

test('a GitHub or GitLab id is a number in its canonical form', () => {
  for (const provider of ['github', 'gitlab'] as const) {
    assert.equal(normalizeRepositoryId(provider, '1296269'), '1296269')
    for (const wrong of ['', '0', '-1', '007', '1.5', UUID, '9'.repeat(20)])
      assert.equal(normalizeRepositoryId(provider, wrong), null)
  }
})

test('a Bitbucket UUID is the same with braces or without, in capitals or not', () => {
  for (const written of [UUID, `{${UUID}}`, UUID.toUpperCase()])
    assert.equal(normalizeRepositoryId('bitbucket', written), UUID)
  for (const wrong of [`{${UUID}`, `{{${UUID}}}`, '12', ''])
    assert.equal(normalizeRepositoryId('bitbucket', wrong), null)
})

test('an Azure GUID has no braces and is kept in lower case', () => {
  assert.equal(normalizeRepositoryId('azure', UUID.toUpperCase()), UUID)
  assert.equal(normalizeRepositoryId('azure', `{${UUID}}`), null)
})

test('a name is owner/name; only GitLab and Azure put something between', () => {
  for (const provider of PROVIDERS) {
    assert.ok(isRepositoryName(provider, 'acme/shop'))
    for (const wrong of [
      '',
      'acme',
      'acme/',
      '/shop',
      'acme/..',
      'acme//shop',
      'a:b@c/shop',
      `acme/${'x'.repeat(300)}`,
    ])
      assert.ok(!isRepositoryName(provider, wrong), `${provider} ${wrong}`)
  }
  assert.ok(isRepositoryName('gitlab', 'acme/web/shop'))
  assert.ok(isRepositoryName('azure', 'acme/web/shop'))
  assert.ok(!isRepositoryName('github', 'acme/web/shop'))
})

test('a host is a name in lower case, maybe with a port, never an address with a scheme or a user', () => {
  for (const host of ['github.com', 'git.acme.example:8443', 'localhost', '10.0.0.1']) assert.ok(isHost(host), host)
  for (const wrong of ['', 'https://github.com', 'user@github.com', 'github.com/', 'GitHub.com', '-a', 'a:0'])
    assert.ok(!isHost(wrong), wrong)
})

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

test('requests and merge queues are untracked, also where no branch is known', () => {
  for (const ref of [
    'refs/pull/7/merge',
    'pull/7/merge',
    '7/merge',
    'refs/merge-requests/7/head',
    'refs/merge-requests/7/train',
    'gh-readonly-queue/main/pr-7-0123456',
    'refs/heads/gh-readonly-queue/main/pr-7-0123456',
  ])
    assert.equal(isTracked(ref, null), false, ref)
  for (const ref of ['main', 'refs/heads/pull', 'pull/request', '7/merged', 'refs/tags/v1'])
    assert.equal(isTracked(ref, null), true)
})

test('a tag or a pull request is never the tracked branch, even if its ref is written there', () => {
  assert.equal(isTracked('refs/tags/main', 'main'), false)
  assert.equal(isTracked('refs/pull/1/merge', 'main'), false)
  assert.equal(isTracked('refs/tags/v1', 'refs/tags/v1'), false)
  assert.equal(isTracked('refs/tags/v1', 'refs/pull/1/merge'), false)
})

test('environments are compared without case at GitHub and Azure DevOps only, and never as patterns', () => {
  for (const provider of PROVIDERS)
    assert.equal(isSameEnvironment(provider, 'Prod', 'prod'), ['github', 'azure'].includes(provider), provider)
  const elsewhere = [
    ['github.com/acme/shop', true],
    ['dev.azure.com/acme/web/shop', true],
    ['gitlab.com/acme/shop', false],
    ['git.example.com/acme/shop', false],
  ] as const
  for (const [address, same] of elsewhere) assert.equal(isSameEnvironment('other', 'Prod', 'prod', address), same)
  assert.equal(isSameEnvironment('gitlab', 'Prod', 'prod', 'github.com/acme/shop'), false)
  assert.equal(isSameEnvironment('github', 'prod*', 'production'), false)
})

test('patterns that are written for a former address match, and no pattern reaches more by them', () => {
  const azure = 'dev.azure.com/acme/web/shop'
  const former = [
    'dev.azure.com/acme/web/_git/shop',
    'acme/web/_git/*',
    'ssh.dev.azure.com/v3/acme/**',
    'acme.visualstudio.com/web/_git/shop',
    'dev.azure.com/acme/web/*',
  ]
  for (const pattern of former) assert.ok(matchRepository(pattern, azure), pattern)
  assert.ok(matchRepository('dev.azure.com/acme/_git/web', 'dev.azure.com/acme/web/web'))
  assert.ok(matchRepository('git.example.com:7999/shop/*', 'git.example.com/SHOP/web'))
  for (const pattern of ['web/_git/shop', '*/v3/**', 'v3/acme/web/shop', 'acme/_git/shop', 'dev.azure.com/acme/*'])
    assert.equal(matchRepository(pattern, azure), false, pattern)
  assert.equal(matchRepository('git.example.com:*/shop/*', 'git.example.com/shop/web'), false)
  assert.equal(matchRepository('git.example.com/scm/**', 'git.example.com/SHOP/web'), false)
})
