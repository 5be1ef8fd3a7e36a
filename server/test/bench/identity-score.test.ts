import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addScores, f1Of, type Ids, precisionOf, recallOf, scoreStep } from '../../bench/tracking/identity-score.ts'
import type { Truth } from '../../bench/tracking/true-pairs.ts'

const truth = (is: Truth['is'], to: number | null = null, isRenamed = false): Truth => ({ is, to, isRenamed })
const counts = (truePositives: number, falsePositives: number, falseNegatives: number) => ({
  truePositives,
  falsePositives,
  falseNegatives,
})

/** Scores a step in which all results can be told apart, unless keys are given. */
const scored = (truths: Truth[], before: Ids, after: Ids, keys = after.map((_, index) => `${index}`)) =>
  scoreStep(truths, { before, after, keys })

test('a finding with the same id at its true place is recognized', () => {
  const { score, misses } = scored([truth('kept', 1), truth('kept', 0)], ['a', 'b'], ['b', 'a'])
  assert.deepEqual(score.unchanged, counts(2, 0, 0))
  assert.deepEqual(score.withEdits, counts(2, 0, 0))
  assert.deepEqual(misses, [])
})

test('a new id at its place is a finding lost', () => {
  const { score, misses } = scored([truth('kept', 0)], ['a'], ['c'])
  assert.deepEqual(score.unchanged, counts(0, 0, 1))
  assert.deepEqual(misses, [{ is: 'kept', isRenamed: false, old: 0, to: 0, seenAt: null }])
})

test('two findings that changed places are two mistakes and two losses', () => {
  const { score, misses } = scored([truth('kept', 0), truth('kept', 1)], ['a', 'b'], ['b', 'a'])
  assert.deepEqual(score.unchanged, counts(0, 2, 2))
  assert.deepEqual(
    misses.map(({ seenAt }) => seenAt),
    [1, 0],
  )
})

test('which of two results that cannot be told apart has the id makes no difference', () => {
  const { score, misses } = scored([truth('kept', 0), truth('kept', 1)], ['a', 'b'], ['b', 'a'], ['x', 'x'])
  assert.deepEqual(score.unchanged, counts(2, 0, 0))
  assert.deepEqual(misses, [])
})

test('a deleted finding that is seen again is a mistake, also if its text is unchanged elsewhere', () => {
  assert.deepEqual(scored([truth('gone')], ['a'], ['a']).score.unchanged, counts(0, 1, 0))
  assert.deepEqual(scored([truth('gone')], ['a'], ['b']).score.unchanged, counts(0, 0, 0))
})

test('edited and moved findings count in the second measure only', () => {
  const { score } = scored([truth('edited', 0), truth('moved', 1)], ['a', 'b'], ['a', 'c'])
  assert.deepEqual(score.unchanged, counts(0, 0, 0))
  assert.deepEqual(score.withEdits, counts(1, 0, 1))
  assert.deepEqual(score.edited, { kept: 1, of: 1 })
  assert.deepEqual(score.moved, { kept: 0, of: 1 })
})

test('an unsure finding counts nowhere', () => {
  const { score, misses } = scored([truth('unsure')], ['a'], ['a'])
  assert.deepEqual([score.unchanged, score.withEdits, score.unsure], [counts(0, 0, 0), counts(0, 0, 0), 1])
  assert.deepEqual(misses, [])
})

test('renamed files are counted apart', () => {
  const { score } = scored([truth('kept', 0, true), truth('kept', 1, true)], ['a', 'b'], ['a', null])
  assert.deepEqual(score.renamed, { kept: 1, of: 2 })
})

test('findings that share an id are recognized as often as the id occurs', () => {
  const truths = [truth('kept', 0), truth('kept', 1), truth('gone')]
  assert.deepEqual(scored(truths, ['a', 'a', 'a'], ['a', 'a']).score.unchanged, counts(2, 0, 0))
  assert.deepEqual(scored(truths, ['a', 'a', 'a'], ['a', 'a', 'a']).score.unchanged, counts(2, 1, 0))
})

test('results without a finding are never recognized', () => {
  assert.deepEqual(scored([truth('kept', 0), truth('gone')], [null, null], [null]).score.unchanged, counts(0, 0, 1))
})

test('scores add up, and their ratios are those of the sum', () => {
  const one = scored([truth('kept', 0)], ['a'], ['a']).score
  const two = scored([truth('kept', 0), truth('gone')], ['a', 'b'], ['c', 'b']).score
  const sum = addScores([one, two]).unchanged
  assert.deepEqual(sum, counts(1, 1, 1))
  assert.deepEqual([precisionOf(sum), recallOf(sum), f1Of(sum)], [0.5, 0.5, 0.5])
  assert.deepEqual([precisionOf(counts(0, 0, 0)), recallOf(counts(0, 0, 0)), f1Of(counts(0, 1, 1))], [1, 1, 0])
})
