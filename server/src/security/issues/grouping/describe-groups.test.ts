import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memberOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { collectIssueChanges, collectLeftIssues, describeGroups, type StoredIssue } from './describe-groups.ts'
import { groupMembers } from './group-members.ts'
import type { Member } from './grouping-facts.ts'

const AT = new Date('2026-03-04T00:00:00Z')
const OSV = { by: 'aliases', source: 'osv' } as const
const asNamed = (id: string) => id
const asAliases = (id: string) => (id === 'GHSA-2' ? 'CVE-2024-1000' : id)

/** Two findings of two issues. */
function apart(): [Member, Member] {
  const single = { grouping_code: 'single', grouping_detail: null } as const
  return [
    { ...memberOf(packageFacts(['CVE-2024-1000']), '1', 'A'), ...single },
    { ...memberOf(packageFacts(['GHSA-2']), '2', 'B'), ...single },
  ]
}

/** The same findings as one issue. */
function together(): Member[] {
  return groupMembers(apart(), { canonicalId: asAliases, rules: RULES }).flatMap(({ members }) =>
    members.map(({ member, reason }) => ({
      ...member,
      issue_id: 'A',
      grouping_code: reason.code,
      grouping_detail: reason.detail,
    })),
  )
}

const issue = (id: string, vulnIds: string[], bucket = apart()[0].bucket): [string, StoredIssue] => [
  id,
  { id, bucket, kind: 'dependency', vuln_ids: vulnIds, canonical_id: vulnIds[0] ?? null },
]

test('groups without a change are left out', () => {
  const groups = groupMembers(apart(), { canonicalId: asNamed, rules: RULES })
  const stored = new Map([issue('A', ['CVE-2024-1000']), issue('B', ['GHSA-2'])])
  assert.deepEqual(describeGroups(groups, stored, asNamed, AT), [])
})

test('an issue whose own fields change is written although its findings do not change', () => {
  const groups = groupMembers(apart(), { canonicalId: asNamed, rules: RULES })
  const stored = new Map([issue('A', ['CVE-2024-1000', 'GHSA-9']), issue('B', ['GHSA-2'])])
  const placed = describeGroups(groups, stored, asNamed, AT)
  assert.deepEqual(
    placed.map((group) => [group.issue.id, group.isWritten]),
    [['A', true]],
  )
})

test('if only a reason changes, the finding is written and the issue is not', () => {
  const [first, second] = together() as [Member, Member]
  const groups = groupMembers([first, { ...second, grouping_detail: 'In other words.' }], {
    canonicalId: asAliases,
    rules: RULES,
  })
  assert.deepEqual(
    describeGroups(groups, new Map(), asAliases, AT).map(({ isWritten }) => isWritten),
    [false],
  )
})

test('merges and splits state the aliases and their source', () => {
  const stored = new Map([issue('A', ['CVE-2024-1000']), issue('B', ['GHSA-2'])])
  const joined = describeGroups(groupMembers(apart(), { canonicalId: asAliases, rules: RULES }), stored, asAliases, AT)
  assert.deepEqual(collectIssueChanges(joined, collectLeftIssues(joined), stored, OSV), [
    {
      event: 'merged',
      issue_id: 'B',
      other_issue_id: 'A',
      detail: 'CVE-2024-1000 and GHSA-2 are aliases (osv).',
    },
  ])
  const parted = describeGroups(
    groupMembers(together(), { canonicalId: asNamed, rules: RULES }),
    new Map(),
    asNamed,
    AT,
  )
  const [split, ...others] = collectIssueChanges(parted, [], new Map(), OSV)
  assert.deepEqual([split?.event, split?.other_issue_id, others], ['split', 'A', []])
  assert.equal(split?.detail, 'CVE-2024-1000 and GHSA-2 are no longer aliases (osv).')
})
