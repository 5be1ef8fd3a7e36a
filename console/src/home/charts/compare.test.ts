import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './trends.ts'

test('a figure is compared relatively, a share in percentage points', () => {
  assert.deepEqual(compare({ now: 150, before: 100, isShare: false }), { direction: 'up', text: '50% higher' })
  assert.deepEqual(compare({ now: 50, before: 100, isShare: false }), { direction: 'down', text: '50% lower' })
  assert.deepEqual(compare({ now: 0.12, before: 0.2, isShare: true }), { direction: 'down', text: '8 points lower' })
})

test('a difference that says nothing is none', () => {
  assert.equal(compare({ now: 100.1, before: 100, isShare: false })?.direction, 'same')
})

test('without a figure, or with an earlier one of 0, nothing is compared', () => {
  assert.equal(compare({ now: null, before: 3, isShare: false }), null)
  assert.equal(compare({ now: 3, before: null, isShare: false }), null)
  assert.equal(compare({ now: 3, before: 0, isShare: false }), null)
  assert.deepEqual(compare({ now: 0.1, before: 0, isShare: true }), { direction: 'up', text: '10 points higher' })
})
