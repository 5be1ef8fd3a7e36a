import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyBindings } from './policy.schema.ts'
import { isDeploymentCovered, isRepositoryCovered } from './policy-binding.ts'

const TARGET = { environment: 'production', repository: 'github.com/acme/api', branch: 'main' }
const bound = (fields: Partial<PolicyBindings>) => ({
  bindings: { environments: null, repositories: null, branches: null, ...fields },
})

test('a policy without bindings covers nothing', () => {
  assert.equal(isDeploymentCovered({ bindings: null }, TARGET), false)
  assert.equal(isRepositoryCovered({ bindings: null }, TARGET.repository), false)
})

test('a definition that cannot be read covers everything', () => {
  assert.equal(isDeploymentCovered(null, TARGET), true)
  assert.equal(isRepositoryCovered(null, TARGET.repository), true)
})

test('every given list must match; a list that is not given matches everything', () => {
  assert.equal(isDeploymentCovered(bound({ environments: ['prod*'] }), TARGET), true)
  assert.equal(
    isDeploymentCovered(bound({ environments: ['test', 'production'], branches: ['release/*'] }), TARGET),
    false,
  )
  assert.equal(isDeploymentCovered(bound({ environments: ['production'], branches: ['main'] }), TARGET), true)
  assert.equal(isDeploymentCovered(bound({ repositories: ['acme/web'] }), TARGET), false)
})

test('a repository matches with or without its host, in any case', () => {
  for (const pattern of ['acme/*', 'github.com/acme/api', 'ACME/API', '*', 'github.com/**'])
    assert.equal(isRepositoryCovered(bound({ repositories: [pattern] }), TARGET.repository), true, pattern)
  for (const pattern of ['api', 'gitlab.com/acme/api', 'acme'])
    assert.equal(isRepositoryCovered(bound({ repositories: [pattern] }), TARGET.repository), false, pattern)
})

test('a tag is only covered if every branch is', () => {
  const tag = { ...TARGET, branch: null }
  assert.equal(isDeploymentCovered(bound({ branches: ['main'] }), tag), false)
  assert.equal(isDeploymentCovered(bound({ branches: ['*'] }), tag), true)
  assert.equal(isDeploymentCovered(bound({ environments: ['*'] }), tag), true)
})

test('environments are compared without case where the code host has none', () => {
  const policy = bound({ environments: ['production'] })
  const target = { ...TARGET, environment: 'Production' }
  assert.equal(isDeploymentCovered(policy, { ...target, provider: 'azure' }), true)
  assert.equal(isDeploymentCovered(policy, { ...target, provider: 'gitlab' }), false)
})
