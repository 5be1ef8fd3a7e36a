import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TrustTarget, toTrusted } from './trust-presets.ts'

const EMPTY: TrustTarget = {
  ...{ system: 'github', issuer: '', audience: '', repository: '', workspace: '', workspaceId: '' },
  ...{ branch: '', environment: '', conditions: '' },
}

test('a repository of GitHub, with a branch and an environment', () => {
  assert.deepEqual(toTrusted({ ...EMPTY, repository: 'acme/shop', branch: 'main', environment: 'production' }), {
    provider: 'github',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: undefined,
    conditions: { repository: 'acme/shop', ref: 'refs/heads/main', environment: 'production' },
  })
})

test('fields that are empty are no conditions', () => {
  assert.deepEqual(toTrusted({ ...EMPTY, repository: 'acme/shop' }).conditions, { repository: 'acme/shop' })
  assert.deepEqual(toTrusted({ ...EMPTY, system: 'gitlab', repository: 'acme/shop' }).conditions, {
    project_path: 'acme/shop',
  })
})

test('a branch of GitLab is not a tag of the same name', () => {
  const { conditions } = toTrusted({ ...EMPTY, system: 'gitlab', repository: 'acme/shop', branch: 'main' })
  assert.deepEqual(conditions, { project_path: 'acme/shop', ref: 'main', ref_type: 'branch' })
})

test('an own server has its own issuer', () => {
  const { issuer } = toTrusted({ ...EMPTY, system: 'gitlab', issuer: 'https://gitlab.example.com' })
  assert.equal(issuer, 'https://gitlab.example.com')
})

test('Bitbucket names its issuer by workspace and its ids in braces', () => {
  const ids = { workspace: 'acme', workspaceId: '{u-1}', repository: 'r-1' }
  const { issuer, audience, conditions } = toTrusted({ ...EMPTY, system: 'bitbucket', ...ids })
  assert.equal(issuer, 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc')
  assert.equal(audience, 'ari:cloud:bitbucket::workspace/u-1')
  assert.deepEqual(conditions, { repositoryUuid: '{r-1}' })
})

test('Azure has its own audience', () => {
  const { issuer, audience } = toTrusted({ ...EMPTY, system: 'azure', workspace: 'guid', repository: 'r' })
  assert.deepEqual([issuer, audience], ['https://vstoken.dev.azure.com/guid', 'api://AzureADTokenExchange'])
})

test('several lines of one claim are alternatives, and values can contain "="', () => {
  const conditions = 'sub=organization:acme:**\nref=main\nref = release/*\n\nnonsense\ntag=a=b'
  assert.deepEqual(toTrusted({ ...EMPTY, system: 'other', conditions }).conditions, {
    sub: 'organization:acme:**',
    ref: ['main', 'release/*'],
    tag: 'a=b',
  })
})
