import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkBucket } from './link-bucket.ts'

const NAMES = { canonicalId: (id: string) => id, rules: RULES }
const RESULT = { tool: 'CodeQL', rule_id: 'js/xss', stream_id: 1, context: 'text' }

type Lines = readonly [from: number, to: number, left?: number, right?: number]

function at([from, to, left, right]: Lines): Partial<GroupingFacts> {
  return { start_line: from, end_line: to, start_column: left ?? null, end_column: right ?? null }
}

function result(lines: Lines, fields: Partial<GroupingFacts> = {}): GroupingFacts {
  return factsOf({ ...RESULT, context: `text ${lines}`, ...at(lines), ...fields })
}

function alert(lines: Lines, fields: Partial<GroupingFacts> = {}): GroupingFacts {
  return factsOf({ ...RESULT, stream_id: 2, is_alert: true, context: null, ...at(lines), ...fields })
}

/** The groups as sorted lists of indexes. */
function groupsOf(members: readonly GroupingFacts[]): number[][] {
  const groups = linkBucket(members, NAMES).groups()
  return groups.map((group) => group.sort((a, b) => a - b)).sort((a, b) => (a[0] as number) - (b[0] as number))
}

test('an alert joins the result of its scanner and rule at overlapping lines', () => {
  assert.deepEqual(groupsOf([result([10, 12]), alert([12, 14]), result([20, 20])]), [[0, 1], [2]])
})

test('another rule, another file and other lines are not joined with an alert', () => {
  const others = [
    result([10, 12], { rule_id: 'js/eval' }),
    result([10, 12], { path: 'src/other.ts' }),
    result([13, 14]),
    result([10, 12], { tool: 'Semgrep' }),
  ]
  for (const other of others) assert.equal(groupsOf([alert([10, 12]), other]).length, 2)
})

test('two alerts are never one, not even by a result that overlaps both', () => {
  assert.deepEqual(groupsOf([alert([10, 11]), alert([11, 12]), result([10, 12])]).length, 2)
  assert.deepEqual(groupsOf([alert([10, 10]), alert([10, 10])]).length, 2)
})

test('of several results at one line, an alert joins the one at its columns', () => {
  const results = [result([10, 10, 5, 9]), result([10, 10, 40, 49]), result([10, 10, 80, 89])]
  assert.deepEqual(groupsOf([...results, alert([10, 10, 40, 49])]), [[0], [1, 3], [2]])
  assert.deepEqual(groupsOf([...results, alert([10, 10, 60, 70])]), [[0], [1], [2], [3]])
})

test('the nearest lines are joined first', () => {
  const members = [result([8, 12]), result([10, 14]), alert([9, 12]), alert([10, 14])]
  assert.deepEqual(groupsOf(members), [
    [0, 2],
    [1, 3],
  ])
})

test('a result of several branches joins the same alert', () => {
  const branches = [result([10, 12]), result([10, 12], { stream_id: 3 })]
  assert.deepEqual(groupsOf([...branches, alert([10, 12])]), [[0, 1, 2]])
})

test('the groups do not depend on the order of alerts and results, and no two alerts meet', () => {
  const member = fc.record({
    isAlert: fc.boolean(),
    stream: fc.integer({ min: 1, max: 2 }),
    from: fc.integer({ min: 1, max: 6 }),
    length: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(fc.array(member, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (drawn, random) => {
      const members = drawn.map(({ isAlert, stream, from, length }, index) =>
        isAlert
          ? alert([from, from + length], { fingerprint: `alert ${index}` })
          : result([from, from + length], { stream_id: 2 + stream, context: `${index % 3}`, fingerprint: `${index}` }),
      )
      const shuffled = [...members]
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = (random.next().value as number) % (index + 1)
        const [one, two] = [shuffled[index] as GroupingFacts, shuffled[other] as GroupingFacts]
        shuffled[index] = two
        shuffled[other] = one
      }
      const back = groupsOf(shuffled).map((group) => group.map((index) => members.indexOf(shuffled[index] as never)))
      const text = (groups: number[][]) => groups.map((group) => group.sort((a, b) => a - b).join()).sort()
      assert.deepEqual(text(back), text(groupsOf(members)))
      for (const group of groupsOf(members)) {
        assert.ok(group.filter((index) => members[index]?.is_alert).length <= 1)
      }
    }),
  )
})
