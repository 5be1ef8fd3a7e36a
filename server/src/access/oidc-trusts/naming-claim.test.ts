import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Conditions } from './conditions.ts'
import { hasNamingCondition } from './naming-claim.ts'
import type { TrustProvider } from './token-job.ts'

const NAMING: [TrustProvider | null, Conditions][] = [
  ['github', { repository: 'acme/shop' }],
  ['github', { repository: 'acme/*' }],
  ['github', { repository: 'acme/**' }],
  ['github', { repository: ['acme/shop', 'acme/web-*'] }],
  ['github', { repository_owner: 'acme', repository: '*/*' }],
  ['github', { repository_id: '123' }],
  ['github', { repository_owner_id: '123', ref: 'refs/heads/*' }],
  ['github', { sub: 'repo:acme/shop:**' }],
  ['github', { sub: 'repo:acme/*:ref:refs/heads/main' }],
  ['github', { sub: 'repo:acme@1/shop@2:ref:refs/heads/main' }],
  ['github', { sub: 'repository_owner:acme:**' }],
  ['gitlab', { project_path: 'acme/**' }],
  ['gitlab', { project_id: '1' }],
  ['gitlab', { namespace_path: 'acme' }],
  ['gitlab', { namespace_id: '1' }],
  ['gitlab', { sub: 'project_path:acme/shop:**' }],
  ['bitbucket', { repositoryUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}' }],
  ['bitbucket', { workspaceUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}' }],
  ['bitbucket', { sub: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}:*' }],
  ['azure', { rpo_id: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1' }],
  ['azure', { sub: 'p://acme/web/*' }],
  [null, { repository: 'acme/shop' }],
  [null, { sub: 'organization:acme:pipeline:shop' }],
  [null, { sub: 'organization:acme:pipeline:shop:**' }],
  [null, { sub: 'org/1/project/2/**' }],
]

const NAMELESS: [TrustProvider | null, Conditions][] = [
  ['github', {}],
  ['github', { repository: '*' }],
  ['github', { repository: '**' }],
  ['github', { repository: '*/*' }],
  ['github', { repository: '*/shop' }],
  ['github', { repository: 'ac*/shop' }],
  ['github', { repository: '/shop' }],
  ['github', { repository: ['acme/shop', '*/shop'] }],
  ['github', { repository_id: '12*' }],
  ['github', { repository_id: '*' }],
  ['github', { repository_owner: 'acme*' }],
  ['github', { sub: 'repo:*' }],
  ['github', { sub: 'repo:*/shop:**' }],
  ['github', { sub: 'repo:acme*/shop:**' }],
  ['github', { sub: 'repo:**' }],
  ['github', { sub: '**:ref:refs/heads/main' }],
  // With a template, every repository can have this subject.
  ['github', { sub: 'environment:production' }],
  ['github', { sub: 'repository_owner:acme*' }],
  ['github', { ref: 'refs/heads/main', environment: 'production' }],
  ['github', { enterprise: 'acme' }],
  // The names of another provider.
  ['github', { project_path: 'acme/shop' }],
  ['gitlab', { repository: 'acme/shop' }],
  ['gitlab', { project_path: '**/shop' }],
  ['gitlab', { job_project_path: 'acme/shop' }],
  ['gitlab', { sub: 'project_path:*/shop:**' }],
  ['bitbucket', { repositoryUuid: '*' }],
  ['bitbucket', { branchName: 'main' }],
  ['bitbucket', { sub: '*:{d5ff2daf-063f-4c13-82fc-cb51af94c2cb}' }],
  ['azure', { sub: 'p://*/web/shop' }],
  ['azure', { sub: '**' }],
  ['azure', { org_id: '0ca3ddd9-f0b0-4635-a98c-5866526961b6' }],
  [null, { sub: 'organization:*' }],
  [null, { sub: 'organization:acme*:**' }],
  [null, { sub: 'org/**' }],
  [null, { toString: 'x', constructor: 'x' } as unknown as Conditions],
]

for (const [provider, conditions] of NAMING) {
  test(`conditions of ${provider} name something: ${JSON.stringify(conditions)}`, () => {
    assert.ok(hasNamingCondition(conditions, provider))
  })
}

for (const [provider, conditions] of NAMELESS) {
  test(`conditions of ${provider} name nothing: ${JSON.stringify(conditions)}`, () => {
    assert.ok(!hasNamingCondition(conditions, provider))
  })
}
