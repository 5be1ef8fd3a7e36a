import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { reviveIssues } from '../regroup/revive-issues.ts'
import { type Group, groupMembers } from './group-members.ts'
import { issueChanges, leftIssues } from './issue-change.ts'
import type { Member } from './member.ts'
import { placeGroups, type StoredIssue } from './place-groups.ts'

const AT = new Date('2026-03-04T00:00:00Z')
const OSV = { by: 'aliases', source: 'osv' } as const
const asNamed = (id: string) => id
const asAliases = (id: string) => (id === 'GHSA-2' ? 'CVE-2024-1000' : id)

/** Two findings as they stand when they are two issues. */
function apart(): [Member, Member] {
  const single = { grouping_code: 'single', grouping_detail: null } as const
  return [
    { ...memberOf(packageFacts(['CVE-2024-1000']), '1', 'A'), ...single },
    { ...memberOf(packageFacts(['GHSA-2']), '2', 'B'), ...single },
  ]
}

/** The same when they are one. */
function together(): Member[] {
  return groupMembers(apart(), asAliases).flatMap(({ members }) =>
    members.map(({ member, reason }) => ({
      ...{ ...member, issue_id: 'A' },
      ...{ grouping_code: reason.code, grouping_detail: reason.detail },
    })),
  )
}

const issue = (id: string, vulnIds: string[], bucket = apart()[0].bucket): [string, StoredIssue] => [
  id,
  { id, bucket, kind: 'dependency', vuln_ids: vulnIds, canonical_id: vulnIds[0] ?? null },
]

test('where nothing has changed, nothing is placed', () => {
  const groups = groupMembers(apart(), asNamed)
  const stored = new Map([issue('A', ['CVE-2024-1000']), issue('B', ['GHSA-2'])])
  assert.deepEqual(placeGroups(groups, stored, asNamed, AT), [])
})

test('an issue that says something else is written, though its findings stay as they are', () => {
  const groups = groupMembers(apart(), asNamed)
  const stored = new Map([issue('A', ['CVE-2024-1000', 'GHSA-9']), issue('B', ['GHSA-2'])])
  const placed = placeGroups(groups, stored, asNamed, AT)
  assert.deepEqual(
    placed.map((group) => [group.issue.id, group.isWritten]),
    [['A', true]],
  )
})

test('a reason alone that has changed writes its finding and not the issue', () => {
  const [first, second] = together() as [Member, Member]
  const groups = groupMembers([first, { ...second, grouping_detail: 'In other words.' }], asAliases)
  assert.deepEqual(
    placeGroups(groups, new Map(), asAliases, AT).map(({ isWritten }) => isWritten),
    [false],
  )
})

test('joined and parted issues say by which names, and who says so', () => {
  const stored = new Map([issue('A', ['CVE-2024-1000']), issue('B', ['GHSA-2'])])
  const joined = placeGroups(groupMembers(apart(), asAliases), stored, asAliases, AT)
  assert.deepEqual(issueChanges(joined, leftIssues(joined), stored, OSV), [
    {
      ...{ event: 'merged', issue_id: 'B', other_issue_id: 'A' },
      detail: 'CVE-2024-1000 and GHSA-2 are aliases (osv).',
    },
  ])
  const parted = placeGroups(groupMembers(together(), asNamed), new Map(), asNamed, AT)
  const [split, ...others] = issueChanges(parted, [], new Map(), OSV)
  assert.deepEqual([split?.event, split?.other_issue_id, others], ['split', 'A', []])
  assert.equal(split?.detail, 'CVE-2024-1000 and GHSA-2 are no longer aliases (osv).')
})

test('what comes apart gets the issue back that it was before, once, and only if it was about the same', () => {
  const groups = groupMembers(together(), asNamed)
  const idsOf = (revived: Group[]) => revived.map(({ issue_id }) => issue_id)
  assert.deepEqual(idsOf(reviveIssues(groups, [{ id: 'B', merged_into: 'A', vuln_ids: ['GHSA-2'] }])), ['A', 'B'])
  assert.deepEqual(idsOf(reviveIssues(groups, [{ id: 'B', merged_into: 'A', vuln_ids: ['GHSA-3'] }])), ['A', null])
  assert.deepEqual(idsOf(reviveIssues(groups, [{ id: 'B', merged_into: 'C', vuln_ids: ['GHSA-2'] }])), ['A', null])
})
