import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileMap } from '../../bench/tracking/line-map.ts'
import type { ReportedResult } from '../../bench/tracking/reported-result.ts'
import { truePairs } from '../../bench/tracking/true-pairs.ts'

function result(startLine: number, fields: Partial<ReportedResult> = {}): ReportedResult {
  const place = { path: 'a.py', startLine, endLine: startLine, startColumn: null, endColumn: null }
  return { scanner: 'T', rule: 'R', ...place, message: '', snippet: null, cwe: 0, ownLineHash: null, ...fields }
}

/** All lines of a.py are ten lines lower. */
const LOWER: FileMap = { to: 'a.py', kept: [[1, 11, 100]], edited: [], moved: [], unsure: [] }

function targets(before: ReportedResult[], after: ReportedResult[], map: Partial<FileMap> = {}) {
  return truePairs({ 'a.py': { ...LOWER, ...map } }, before, after).map(({ is, to }) => `${is} ${to}`)
}

test('the same finding is the result of the same rule at the mapped line', () => {
  const after = [result(11, { rule: 'S' }), result(12), result(11)]
  assert.deepEqual(targets([result(1), result(2)], after), ['kept 2', 'kept 1'])
})

test('without such a result the finding is gone', () => {
  assert.deepEqual(targets([result(1)], [result(1), result(11, { rule: 'S' })]), ['gone null'])
})

test('findings on one line are paired by column', () => {
  const before = [result(1, { startColumn: 30 }), result(1, { startColumn: 5 })]
  const after = [result(11, { startColumn: 8 }), result(11, { startColumn: 40 })]
  assert.deepEqual(targets(before, after), ['kept 1', 'kept 0'])
})

test('of more findings than results on a line, equal ones are paired and the others are unsure', () => {
  const before = [result(1, { startColumn: 5 }), result(1, { startColumn: 9 }), result(1, { startColumn: 20 })]
  const after = [result(11, { startColumn: 9 }), result(11, { startColumn: 12 })]
  assert.deepEqual(targets(before, after), ['unsure null', 'kept 0', 'unsure null'])
  assert.deepEqual(targets(before, after.slice(0, 1)), ['gone null', 'kept 0', 'gone null'])
})

test('a region that ends before a line does not include it', () => {
  const before = [result(1, { endLine: 3, endColumn: 1 })]
  assert.deepEqual(targets(before, [result(11)], { kept: [[1, 11, 2]] }), ['kept 0'])
  assert.deepEqual(targets(before, [result(11)], { kept: [[1, 11, 1]] }), ['edited 0'])
})

test('a finding may be on any of the lines into which its line was broken', () => {
  const map: Partial<FileMap> = { kept: [[2, 15, 9]], edited: [[1, 11, 4]] }
  assert.deepEqual(targets([result(1)], [result(14)], map), ['edited 0'])
  assert.deepEqual(targets([result(1)], [result(15)], map), ['gone null'])
  assert.deepEqual(targets([result(1)], [result(14, { rule: 'S' })], map), ['gone null'])
  const both = [result(1, { startColumn: 40 }), result(1, { startColumn: 5 })]
  assert.deepEqual(targets(both, [result(13), result(12)], map), ['edited 0', 'edited 1'])
  assert.deepEqual(targets([result(1)], [result(12, { message: 'B' }), result(13, { message: 'B' })], map), [
    'unsure null',
  ])
})

test('a finding is unsure if new text with a new result of its rule stands where it was', () => {
  const map: Partial<FileMap> = {
    kept: [
      [1, 1, 3],
      [8, 10, 20],
    ],
  }
  assert.deepEqual(targets([result(5)], [result(7)], map), ['unsure null'])
  assert.deepEqual(targets([result(5)], [result(12)], map), ['gone null'])
  assert.deepEqual(targets([result(5)], [result(7, { rule: 'S' })], map), ['gone null'])
  assert.deepEqual(targets([result(5), result(6)], [result(7)], { ...map, edited: [[6, 7, 1]] }), [
    'gone null',
    'edited 0',
  ])
})

test('only a file with another path is renamed', () => {
  const after = [result(11), result(11, { path: 'b.py' }), result(50, { path: 'b.py' })]
  const renamed = (map: Partial<FileMap>) => truePairs({ 'a.py': { ...LOWER, ...map } }, [result(1)], after)[0]
  assert.deepEqual(renamed({}), { is: 'kept', to: 0, isRenamed: false })
  assert.deepEqual(renamed({ to: 'b.py' }), { is: 'kept', to: 1, isRenamed: true })
  const moved: Partial<FileMap> = { kept: [], moved: [[1, 50, 1, 'b.py']] }
  assert.deepEqual(renamed(moved), { is: 'moved', to: 2, isRenamed: false })
})
