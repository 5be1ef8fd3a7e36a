import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coversTarget } from './gate-coverage.ts'

const TARGET = { environment: 'production', repository: 'github.com/acme/api', branch: 'main' }
const EVERYTHING = { environment: '*', repository: null, branch: null }

test('a pattern that is absent covers everything', () => {
  assert.ok(coversTarget(EVERYTHING, TARGET))
  assert.ok(coversTarget(EVERYTHING, { ...TARGET, branch: null }))
})

test('a gate covers only what all of its patterns match', () => {
  const gate = { environment: 'prod*', repository: 'acme/*', branch: 'main' }
  assert.ok(coversTarget(gate, TARGET))
  assert.ok(!coversTarget(gate, { ...TARGET, environment: 'staging' }))
  assert.ok(!coversTarget(gate, { ...TARGET, repository: 'github.com/other/api' }))
  assert.ok(!coversTarget(gate, { ...TARGET, branch: 'next' }))
})

test('the exact name of an environment counts, case included', () => {
  const gate = { ...EVERYTHING, environment: 'production' }
  assert.ok(!coversTarget(gate, { ...TARGET, environment: 'Production' }))
  assert.ok(!coversTarget(gate, { ...TARGET, environment: 'production-eu' }))
})

test('a repository matches with or without its host, in any case, and never by its owner alone', () => {
  const covers = (repository: string) => coversTarget({ ...EVERYTHING, repository }, TARGET)
  assert.deepEqual(['acme/api', 'github.com/acme/api', 'ACME/*', '**/api'].map(covers), [true, true, true, true])
  assert.deepEqual(['acme', 'api', 'gitlab.com/acme/api', 'acme/ap'].map(covers), [false, false, false, false])
})

test('a gate for a branch does not cover a run that names none', () => {
  assert.ok(!coversTarget({ ...EVERYTHING, branch: 'main' }, { ...TARGET, branch: null }))
})
