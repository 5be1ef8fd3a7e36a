import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fateOf, gapOf } from '../../bench/tracking/line-fate.ts'
import type { FileMap } from '../../bench/tracking/line-map.ts'

/**
 * Lines 1 to 4 are kept three lines lower, 5 became the lines 8 to 10, 6 to 7 are in another file,
 * 8 is unsure.
 */
const MAP: FileMap = {
  to: 'new.py',
  kept: [
    [1, 4, 4],
    [12, 20, 2],
  ],
  edited: [[5, 8, 3]],
  moved: [[6, 101, 2, 'other.py']],
  unsure: [[8, 1]],
}

const fate = (first: number | null, last = first, map: FileMap | undefined = MAP) => fateOf(map, { first, last })

test('a kept line is at its new line in the new file', () => {
  assert.deepEqual(fate(3), { is: 'kept', path: 'new.py', line: 6, until: 7 })
})

test('several lines are kept only together', () => {
  assert.deepEqual(fate(2, 4), { is: 'kept', path: 'new.py', line: 5, until: 6 })
  assert.deepEqual(fate(4, 5), { is: 'edited', path: 'new.py', line: 7, until: 8 })
  assert.deepEqual(fate(12, 14), { is: 'edited', path: 'new.py', line: 20, until: 21 })
})

test('two kept ranges with the same distance are one', () => {
  const map = {
    ...MAP,
    kept: [
      [1, 4, 2],
      [3, 6, 2],
    ],
  } satisfies FileMap
  assert.equal(fateOf(map, { first: 1, last: 4 }).is, 'kept')
})

test('edited and moved lines are at their new places', () => {
  assert.deepEqual(fate(5), { is: 'edited', path: 'new.py', line: 8, until: 11 })
  assert.deepEqual(fate(7), { is: 'moved', path: 'other.py', line: 102, until: 103 })
})

test('a line in no list is gone', () => {
  assert.deepEqual(fate(9), { is: 'gone' })
  assert.deepEqual(fate(9, 11), { is: 'gone' })
})

test('the truth is unknown on unsure lines, and where only later lines remain', () => {
  assert.deepEqual(fate(8), { is: 'unsure' })
  assert.deepEqual(fate(7, 8), { is: 'unsure' })
  assert.deepEqual(fate(11, 12), { is: 'unsure' })
  assert.deepEqual(fateOf(undefined, { first: 1, last: 1 }), { is: 'unsure' })
})

test('a finding without a line goes with its file', () => {
  assert.deepEqual(fate(null), { is: 'kept', path: 'new.py', line: null, until: 0 })
  assert.deepEqual(fateOf({ ...MAP, to: null }, { first: null, last: null }), { is: 'gone' })
})

test('lines of a deleted file are gone unless they moved', () => {
  const deleted: FileMap = { ...MAP, to: null, kept: [], edited: [] }
  assert.deepEqual(fateOf(deleted, { first: 1, last: 1 }), { is: 'gone' })
  assert.deepEqual(fateOf(deleted, { first: 6, last: 6 }), { is: 'moved', path: 'other.py', line: 101, until: 102 })
})

test('the gap of a deleted line is between the lines next to it', () => {
  assert.deepEqual(gapOf(MAP, 9), { path: 'new.py', after: 10, before: 20 })
  assert.deepEqual(gapOf({ ...MAP, edited: [], kept: [] }, 9), {
    path: 'new.py',
    after: 0,
    before: Number.POSITIVE_INFINITY,
  })
  assert.equal(gapOf({ ...MAP, to: null }, 9), null)
})
