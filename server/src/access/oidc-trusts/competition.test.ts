import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canMatchBoth, canMatchRepository } from './competition.ts'
import { type Conditions, matchConditions, toConditions } from './conditions.ts'
import type { TrustProvider } from './token-job.ts'

const ISSUER = 'https://token.actions.githubusercontent.com'

function claimant(conditions: Conditions, provider: TrustProvider | null = 'github', issuer = ISSUER) {
  return { issuer, provider, conditions }
}

const COMPETING: [TrustProvider, Conditions, Conditions][] = [
  ['github', { repository: 'acme/shop' }, { repository: 'acme/shop' }],
  ['github', { repository: 'acme/shop' }, { repository: 'Acme/Shop' }],
  ['github', { repository: 'acme/shop' }, { repository: 'acme/*' }],
  ['github', { repository: 'acme/sh*' }, { repository: 'acme/*op' }],
  ['github', { repository: 'acme/shop' }, { repository_owner: 'acme' }],
  ['github', { repository: 'acme/shop' }, { sub: 'repo:acme/*:ref:refs/heads/main' }],
  ['github', { repository: 'acme/shop' }, { sub: 'repo:acme@1/shop@2:**' }],
  ['github', { repository: 'acme/shop' }, { repository_id: '7' }],
  ['github', { repository_owner: 'acme' }, { sub: 'repository_owner:acme:**' }],
  ['github', { repository: ['a/b', 'acme/shop'] }, { repository: ['c/d', 'acme/shop'] }],
  ['github', { repository: 'acme/shop', ref: 'refs/heads/main' }, { repository: 'acme/shop', environment: 'x' }],
  ['gitlab', { project_path: 'acme/web/shop' }, { namespace_path: 'acme/web' }],
  ['gitlab', { project_path: 'acme/shop' }, { sub: 'project_path:acme/shop:**' }],
  ['bitbucket', { repositoryUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}' }, { workspaceUuid: '{x}' }],
]

const APART: [TrustProvider, Conditions, Conditions][] = [
  ['github', { repository: 'acme/shop' }, { repository: 'acme/web' }],
  ['github', { repository: 'acme/*' }, { repository: 'other/*' }],
  ['github', { repository: 'acme/*' }, { repository: 'acme2/*' }],
  ['github', { repository: 'acme/shop' }, { repository_owner: 'other' }],
  ['github', { repository_owner: 'acme' }, { sub: 'repo:other/shop:**' }],
  ['github', { repository_id: '7' }, { repository_id: '8' }],
  ['github', { repository_id: '7' }, { sub: 'repository_id:8' }],
  ['github', { repository: 'acme/shop', ref: 'refs/heads/main' }, { repository: 'acme/shop', ref: 'refs/heads/dev' }],
  ['gitlab', { project_path: 'acme/web/shop' }, { namespace_path: 'acme' }],
  ['gitlab', { namespace_path: 'acme' }, { sub: 'project_path:other/shop:**' }],
]

for (const [provider, one, other] of COMPETING) {
  test(`trusts compete: ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
    assert.ok(canMatchBoth(claimant(one, provider), claimant(other, provider)))
    assert.ok(canMatchBoth(claimant(other, provider), claimant(one, provider)))
  })
}

for (const [provider, one, other] of APART) {
  test(`trusts do not compete: ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
    assert.ok(!canMatchBoth(claimant(one, provider), claimant(other, provider)))
    assert.ok(!canMatchBoth(claimant(other, provider), claimant(one, provider)))
  })
}

test('trusts that match the same real token always compete', () => {
  const part = fc.constantFrom('a', 'b')
  const glob = fc.constantFrom('*', 'a', 'b', 'a*', '**')
  const owner = part.chain((name) => fc.constantFrom({ repository_owner: name }))
  const repository = fc.tuple(part, glob).map(([name, rest]) => ({ repository: `${name}/${rest}` }))
  const sub = fc.tuple(part, glob).map(([name, rest]) => ({ sub: `repo:${name}/${rest}:**` }))
  const conditions = fc.tuple(fc.oneof(owner, repository, sub), fc.oneof(owner, repository, sub)).map(merged)
  fc.assert(
    fc.property(conditions, conditions, part, part, (one, other, name, rest) => {
      const repositoryName = `${name}/${rest}`
      const claims = { repository: repositoryName, repository_owner: name, sub: `repo:${repositoryName}:ref:refs/x` }
      if (!matchConditions(toConditions(one), claims) || !matchConditions(toConditions(other), claims)) return
      assert.ok(canMatchBoth(claimant(one), claimant(other)), JSON.stringify([one, other]))
    }),
    { numRuns: 3000 },
  )
})

function merged([one, other]: [Conditions, Conditions]): Conditions {
  return { ...one, ...other }
}

const SHOP = { provider: 'github', host: 'github.com', id: '7', full_name: 'acme/shop', owner_id: '5' } as const

const REPOSITORY: [matches: boolean, Conditions][] = [
  [true, { repository: 'acme/shop' }],
  [true, { repository: 'ACME/*' }],
  [true, { repository_id: '7' }],
  [true, { repository_owner: 'acme' }],
  [true, { repository_owner_id: '5', ref: 'refs/heads/main' }],
  [true, { sub: 'repo:acme/shop:**' }],
  [false, { repository: 'acme/web' }],
  [false, { repository_id: '8' }],
  [false, { repository_id: '7', repository: 'acme/web' }],
  [false, { repository_owner: 'other' }],
  [false, { repository_owner_id: '6' }],
  [false, { sub: 'repo:acme/web:**' }],
]

for (const [matches, conditions] of REPOSITORY) {
  test(`conditions ${matches ? 'could' : 'cannot'} match a repository: ${JSON.stringify(conditions)}`, () => {
    assert.equal(canMatchRepository(claimant(conditions), SHOP), matches)
  })
}

test('a repository of another host or provider is another repository', () => {
  const conditions = { repository: 'acme/shop' }
  const server = claimant(conditions, 'github', 'https://github.example.com/_services/token')
  assert.ok(!canMatchRepository(server, SHOP))
  assert.ok(canMatchRepository(server, { ...SHOP, host: 'github.example.com' }))
  assert.ok(!canMatchRepository(claimant(conditions), { ...SHOP, host: 'github.example.com' }))
  assert.ok(!canMatchRepository(claimant({ project_path: 'acme/shop' }, 'gitlab', 'https://gitlab.com'), SHOP))
  assert.ok(canMatchRepository(claimant(conditions, 'github', 'http://127.0.0.1:1'), SHOP))
  assert.ok(canMatchRepository(claimant(conditions), { ...SHOP, host: '127.0.0.1:8080' }))
})
