import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detailLines } from './audit-vocabulary.ts'

test('details are lines with labels, also of fields in fields', () => {
  const details = {
    name: 'Production',
    before: { required_approvals: 1, allow_api_keys: false },
    after: { policies: ['a', 'b'], branch: null },
    rules: [{ id: 1 }],
    empty: {},
  }
  assert.deepEqual(
    detailLines(details).map(({ label, value }) => `${label} = ${value}`),
    [
      'Name = Production',
      'Before: required approvals = 1',
      'Before: allow api keys = no',
      'After: policies = a, b',
      'After: branch = none',
      'Rules = {"id":1}',
      'Empty = none',
    ],
  )
})
