import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assignIssues, type Placed } from './assign-issues.ts'

const at = (id: string | null, issueId: string | null): Placed => ({ id, issue_id: issueId })

test('findings that are new get a new issue, and those that come to others theirs', () => {
  assert.deepEqual(assignIssues([[at(null, null)], [at(null, null), at('1', 'A')]]), [
    { issue_id: null, split_from: null },
    { issue_id: 'A', split_from: null },
  ])
})

test('where issues meet the oldest one stays', () => {
  assert.deepEqual(assignIssues([[at('2', 'B'), at('1', 'A'), at('3', 'C')]]), [{ issue_id: 'A', split_from: null }])
})

test('an issue that comes apart stays with its oldest finding; the others know where they come from', () => {
  assert.deepEqual(assignIssues([[at('2', 'A')], [at('1', 'A')], [at('3', 'A')]]), [
    { issue_id: null, split_from: 'A' },
    { issue_id: 'A', split_from: null },
    { issue_id: null, split_from: 'A' },
  ])
})

test('a part of one issue that joins another one is of that', () => {
  assert.deepEqual(assignIssues([[at('1', 'A')], [at('2', 'A'), at('3', 'B')]]), [
    { issue_id: 'A', split_from: null },
    { issue_id: 'B', split_from: null },
  ])
})

test('no issue is in two places, none that still has findings is lost, and the order of groups changes nothing', () => {
  const groups = fc
    .array(fc.tuple(fc.nat(4), fc.option(fc.constantFrom('A', 'B', 'C', 'D'))), { maxLength: 15 })
    .map((drawn) => {
      const members = drawn.map(([group, issue], nth) => ({
        group,
        ...at(issue && String(nth).padStart(2, '0'), issue),
      }))
      return [...Map.groupBy(members, ({ group }) => group).values()]
    })
  const shuffled = groups.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  )
  fc.assert(
    fc.property(shuffled, ([all, others]) => {
      const assigned = assignIssues(all)
      const used = assigned.flatMap(({ issue_id }) => issue_id ?? [])
      assert.equal(new Set(used).size, used.length)
      for (const [nth, { issue_id, split_from }] of assigned.entries()) {
        const before = all[nth]?.flatMap((member) => member.issue_id ?? []) ?? []
        assert.equal(issue_id === null && split_from === null, before.length === 0)
        assert.ok(issue_id === null || before.includes(issue_id))
      }
      const again = assignIssues(others)
      for (const [nth, group] of others.entries()) assert.deepEqual(again[nth], assigned[all.indexOf(group)])
    }),
  )
})
