import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './trends.ts'

type Figures = Parameters<typeof compare>[0]

const rate = { kind: 'rate', counts: [150, 100] } as const satisfies Partial<Figures>
const share = { kind: 'share', counts: [1000, 1000] } as const satisfies Partial<Figures>

test('a figure is compared relatively, a share in percentage points', () => {
  const up = { direction: 'up', text: '50% higher', isNoise: false }
  assert.deepEqual(compare({ now: 150, before: 100, ...rate }), up)
  const lower = { direction: 'down', text: '8 points lower', isNoise: false }
  assert.deepEqual(compare({ now: 0.12, before: 0.2, ...share }), lower)
})

test('a difference that says nothing is none', () => {
  assert.equal(compare({ now: 100.1, before: 100, ...rate })?.direction, 'same')
})

test('without a figure, or with an earlier one of 0, nothing is compared', () => {
  assert.equal(compare({ now: null, before: 3, ...rate }), null)
  assert.equal(compare({ now: 3, before: null, ...rate }), null)
  assert.equal(compare({ now: 3, before: 0, ...rate }), null)
  assert.equal(compare({ now: 0.1, before: 0, ...share })?.text, '10 points higher')
})

test('what chance alone makes of so few is noise, and the same of many is not', () => {
  const isNoise = (figures: Omit<Figures, 'kind'>, kind: Figures['kind']) => compare({ ...figures, kind })?.isNoise
  assert.equal(isNoise({ now: 0.2, before: 0.1, counts: [10, 10] }, 'share'), true)
  assert.equal(isNoise({ now: 0.2, before: 0.1, counts: [1000, 1000] }, 'share'), false)
  assert.equal(isNoise({ now: 6, before: 4, counts: [6, 4] }, 'rate'), true)
  assert.equal(isNoise({ now: 600, before: 400, counts: [600, 400] }, 'rate'), false)
  assert.equal(isNoise({ now: 150, before: 100, counts: [5, 5] }, 'median'), true)
  assert.equal(isNoise({ now: 150, before: 100, counts: [500, 500] }, 'median'), false)
  assert.equal(isNoise({ now: 150, before: 100, counts: [0, 500] }, 'median'), true)
})
