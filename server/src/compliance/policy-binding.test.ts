import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyBindings } from './policy.schema.ts'
import { coversDeployment, coversRepository } from './policy-binding.ts'

const PLACE = { environment: 'production', repository: 'github.com/acme/api', branch: 'main' }
const bound = (fields: Partial<PolicyBindings>): PolicyBindings => ({
  ...{ environments: null, repositories: null, branches: null },
  ...fields,
})

test('a policy without bindings covers nothing by itself', () => {
  assert.equal(coversDeployment(null, PLACE), false)
  assert.equal(coversRepository(null, PLACE.repository), false)
})

test('every list that is given must fit; one that is not covers everything', () => {
  assert.equal(coversDeployment(bound({ environments: ['prod*'] }), PLACE), true)
  assert.equal(coversDeployment(bound({ environments: ['test', 'production'], branches: ['release/*'] }), PLACE), false)
  assert.equal(coversDeployment(bound({ environments: ['production'], branches: ['main'] }), PLACE), true)
  assert.equal(coversDeployment(bound({ repositories: ['acme/web'] }), PLACE), false)
})

test('a repository is meant with or without its host, in whatever case', () => {
  for (const pattern of ['acme/*', 'github.com/acme/api', 'ACME/API', '*', 'github.com/**'])
    assert.equal(coversRepository(bound({ repositories: [pattern] }), PLACE.repository), true, pattern)
  for (const pattern of ['api', 'gitlab.com/acme/api', 'acme'])
    assert.equal(coversRepository(bound({ repositories: [pattern] }), PLACE.repository), false, pattern)
})

test('what has no branch is only covered where every branch is', () => {
  const tag = { ...PLACE, branch: null }
  assert.equal(coversDeployment(bound({ branches: ['main'] }), tag), false)
  assert.equal(coversDeployment(bound({ branches: ['*'] }), tag), true)
  assert.equal(coversDeployment(bound({ environments: ['*'] }), tag), true)
})
