import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { assignIssues, groupMembers, restoreMergedIssues } from './group-members.ts'

const of = (id: string | null, issueId: string | null) => ({ id, issue_id: issueId })

test('new findings get a new issue, or the issue of the findings that they join', () => {
  assert.deepEqual(assignIssues([[of(null, null)], [of(null, null), of('1', 'A')]]), [
    { issue_id: null, split_from: null },
    { issue_id: 'A', split_from: null },
  ])
})

test('if issues meet in a group, the oldest is kept', () => {
  assert.deepEqual(assignIssues([[of('2', 'B'), of('1', 'A'), of('3', 'C')]]), [{ issue_id: 'A', split_from: null }])
})

test('an issue that splits stays with its oldest finding; the new issues name it in split_from', () => {
  assert.deepEqual(assignIssues([[of('2', 'A')], [of('1', 'A')], [of('3', 'A')]]), [
    { issue_id: null, split_from: 'A' },
    { issue_id: 'A', split_from: null },
    { issue_id: null, split_from: 'A' },
  ])
})

test('findings that leave an issue for another one get that one', () => {
  assert.deepEqual(assignIssues([[of('1', 'A')], [of('2', 'A'), of('3', 'B')]]), [
    { issue_id: 'A', split_from: null },
    { issue_id: 'B', split_from: null },
  ])
})

test('no issue is assigned twice, every issue with findings is kept, and the order of groups does not matter', () => {
  const groups = fc
    .array(fc.tuple(fc.nat(4), fc.option(fc.constantFrom('A', 'B', 'C', 'D'))), { maxLength: 15 })
    .map((drawn) => {
      const members = drawn.map(([group, issue], index) => ({
        group,
        ...of(issue && String(index).padStart(2, '0'), issue),
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
      for (const [index, { issue_id, split_from }] of assigned.entries()) {
        const before = all[index]?.flatMap((member) => member.issue_id ?? []) ?? []
        assert.equal(issue_id === null && split_from === null, before.length === 0)
        assert.ok(issue_id === null || before.includes(issue_id))
      }
      const again = assignIssues(others)
      for (const [index, group] of others.entries()) assert.deepEqual(again[index], assigned[all.indexOf(group)])
    }),
  )
})

test('a group that splits off gets the issue back that was merged, once, and only if the vulnerabilities are the same', () => {
  const members = [memberOf(packageFacts(['CVE-2024-1000']), '1', 'A'), memberOf(packageFacts(['GHSA-2']), '2', 'A')]
  const groups = groupMembers(members, { canonicalId: (id) => id, rules: RULES })
  const revived = (id: string, mergedInto: string, vulnId: string) =>
    restoreMergedIssues(groups, [{ id, merged_into: mergedInto, vuln_ids: [vulnId] }]).map(({ issue_id }) => issue_id)
  assert.deepEqual(revived('B', 'A', 'GHSA-2'), ['A', 'B'])
  assert.deepEqual(revived('B', 'A', 'GHSA-3'), ['A', null])
  assert.deepEqual(revived('B', 'C', 'GHSA-2'), ['A', null])
})
