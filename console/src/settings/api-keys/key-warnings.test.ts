import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listKeyWarnings } from './key-warnings.ts'

test('a key that only reads or reports runs needs no warning', () => {
  assert.deepEqual(listKeyWarnings([], ''), [])
  assert.deepEqual(listKeyWarnings(['read:security', 'write:ci'], ''), [])
})

test('a key without repositories can close what other keys have reported', () => {
  assert.match(listKeyWarnings(['write:security-findings'], ' ')[0] ?? '', /close .* every repository/)
  assert.deepEqual(listKeyWarnings(['write:security-findings'], 'acme/shop'), [])
})

test('a key that silences, answers or overrides says so', () => {
  assert.match(listKeyWarnings(['write:triage'], '')[0] ?? '', /every repository/)
  assert.match(listKeyWarnings(['write:triage'], 'acme/*')[0] ?? '', /these repositories/)
  assert.match(listKeyWarnings(['write:ci', 'write:deployments'], 'acme/*')[0] ?? '', /never answers/)
  assert.match(listKeyWarnings(['write:compliance-override'], '')[0] ?? '', /policies block/)
})
