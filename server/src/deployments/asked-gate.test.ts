import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTargetCovered } from './asked-gate.ts'

const TARGET = { environment: 'production', repository: 'github.com/acme/api', branch: 'main' }
const MATCHES_ALL = { environment: '*', repository: null, branch: null }

test('a null pattern matches everything', () => {
  assert.ok(isTargetCovered(MATCHES_ALL, TARGET))
  assert.ok(isTargetCovered(MATCHES_ALL, { ...TARGET, branch: null }))
})

test('a gate covers a target only if all of its patterns match', () => {
  const gate = { environment: 'prod*', repository: 'acme/*', branch: 'main' }
  assert.ok(isTargetCovered(gate, TARGET))
  assert.ok(!isTargetCovered(gate, { ...TARGET, environment: 'staging' }))
  assert.ok(!isTargetCovered(gate, { ...TARGET, repository: 'github.com/other/api' }))
  assert.ok(!isTargetCovered(gate, { ...TARGET, branch: 'next' }))
})

test('environment names match in full, and without case where the code host has none', () => {
  const gate = { ...MATCHES_ALL, environment: 'Prod*' }
  const covers = (host: object) => isTargetCovered(gate, { ...TARGET, environment: 'pRODUCTION', ...host })
  assert.ok(covers({}) && covers({ repository: 'dev.azure.com/acme/shop/api' }))
  assert.ok(covers({ repository: 'git.acme.com/acme/api', provider: 'github' }))
  for (const repository of ['gitlab.com/acme/api', 'bitbucket.org/acme/api', 'git.acme.com/acme/api'])
    assert.ok(!covers({ repository }), repository)
  assert.ok(!covers({ provider: 'gitlab' }))
  assert.ok(!isTargetCovered({ ...gate, environment: 'production' }, { ...TARGET, environment: 'production-eu' }))
})

test('a repository matches with or without its host, case-insensitively, and never by its owner alone', () => {
  const covers = (repository: string) => isTargetCovered({ ...MATCHES_ALL, repository }, TARGET)
  assert.deepEqual(['acme/api', 'github.com/acme/api', 'ACME/*', '**/api'].map(covers), [true, true, true, true])
  assert.deepEqual(['acme', 'api', 'gitlab.com/acme/api', 'acme/ap'].map(covers), [false, false, false, false])
})

test('a gate with a branch pattern does not cover a run without a branch', () => {
  assert.ok(!isTargetCovered({ ...MATCHES_ALL, branch: 'main' }, { ...TARGET, branch: null }))
})
