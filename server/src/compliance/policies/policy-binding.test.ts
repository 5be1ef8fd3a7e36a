import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyBindings } from './policy.schema.ts'
import { coversDeployment, coversRepository } from './policy-binding.ts'

const TARGET = { environment: 'production', repository: 'github.com/acme/api', branch: 'main' }
const bound = (fields: Partial<PolicyBindings>) => ({
  bindings: { environments: null, repositories: null, branches: null, ...fields },
})

test('a policy without bindings covers nothing', () => {
  assert.equal(coversDeployment({ bindings: null }, TARGET), false)
  assert.equal(coversRepository({ bindings: null }, TARGET.repository), false)
})

test('a definition that cannot be read covers everything', () => {
  assert.equal(coversDeployment(null, TARGET), true)
  assert.equal(coversRepository(null, TARGET.repository), true)
})

test('every given list must match; a list that is not given matches everything', () => {
  assert.equal(coversDeployment(bound({ environments: ['prod*'] }), TARGET), true)
  assert.equal(
    coversDeployment(bound({ environments: ['test', 'production'], branches: ['release/*'] }), TARGET),
    false,
  )
  assert.equal(coversDeployment(bound({ environments: ['production'], branches: ['main'] }), TARGET), true)
  assert.equal(coversDeployment(bound({ repositories: ['acme/web'] }), TARGET), false)
})

test('a repository matches with or without its host, in any case', () => {
  for (const pattern of ['acme/*', 'github.com/acme/api', 'ACME/API', '*', 'github.com/**'])
    assert.equal(coversRepository(bound({ repositories: [pattern] }), TARGET.repository), true, pattern)
  for (const pattern of ['api', 'gitlab.com/acme/api', 'acme'])
    assert.equal(coversRepository(bound({ repositories: [pattern] }), TARGET.repository), false, pattern)
})

test('a tag is only covered if every branch is', () => {
  const tag = { ...TARGET, branch: null }
  assert.equal(coversDeployment(bound({ branches: ['main'] }), tag), false)
  assert.equal(coversDeployment(bound({ branches: ['*'] }), tag), true)
  assert.equal(coversDeployment(bound({ environments: ['*'] }), tag), true)
})
