import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderEnvironments } from './board.ts'

test('environments come in the order in which a change passes them', () => {
  const names = [
    'production',
    'docs',
    'eu-production',
    'staging',
    'Dev',
    'qa',
    'pre-production',
    'non-prod',
    'uat',
    'pr-12',
  ]
  assert.deepEqual(orderEnvironments(names), [
    ...['Dev', 'non-prod', 'pr-12', 'qa', 'uat', 'pre-production', 'staging', 'eu-production', 'production', 'docs'],
  ])
})

test('each environment is there once', () => {
  assert.deepEqual(orderEnvironments(['production', 'production']), ['production'])
})
