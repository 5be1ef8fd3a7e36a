import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ALICE,
  BOB,
  commitOf,
  mergedRecord,
  NO_RULES,
  pushedRecord,
  reviewOf,
} from '../../../test/support/change-records.ts'
import type { BranchRules, ChangeRecord } from '../changes/change-record.ts'
import { computeDeviations, type UnratedRecord } from '../changes/deviations.ts'
import { computeSourceLevel, isReviewed } from './verification-summary.ts'

const HISTORY = { blocks_force_pushes: true, blocks_deletion: true }
const CONTROLS = { ...HISTORY, requires_pull_request: true }
const REVIEWS = { ...CONTROLS, required_approvals: 1 }

function rated(record: UnratedRecord): ChangeRecord {
  return { ...record, deviations: computeDeviations(record) }
}

function merged(rules: Partial<BranchRules> | null, fields: Partial<UnratedRecord> = {}): ChangeRecord {
  return rated(mergedRecord({ branch_rules: rules && { ...NO_RULES, ...rules }, ...fields }))
}

function pushed(rules: Partial<BranchRules>, fields: Partial<UnratedRecord> = {}): ChangeRecord {
  return rated(pushedRecord({ branch_rules: { ...NO_RULES, ...rules }, ...fields }))
}

const UNKNOWN = { name: 'Somebody', email: 'somebody@example.com', id: null, login: null }
const BOT = { ...BOB, is_bot: true }
const commits = mergedRecord().commits

const getLevel = (record: ChangeRecord) => computeSourceLevel(record, record.commits.merge)

const LEVELS: [title: string, record: ChangeRecord, level: number][] = [
  ['unknown branch rules', merged(null), 1],
  ['no branch rules', merged({}), 1],
  ['only force pushes are blocked', merged({ blocks_force_pushes: true }), 1],
  ['only deletion is blocked', merged({ blocks_deletion: true }), 1],
  ['a forced push', pushed(HISTORY, { forced: true }), 1],
  ['protected history', merged(HISTORY), 2],
  ['a push to a branch with protected history', pushed(HISTORY), 2],
  ['a push to a branch that requires pull requests', pushed(REVIEWS), 2],
  ['pull requests are required', merged(CONTROLS), 3],
  ['a required check is missing', merged({ ...REVIEWS, required_checks: ['lint'] }), 2],
  [
    'a required signature is missing',
    merged(
      { ...REVIEWS, requires_signatures: true },
      { commits: { ...commits, list: [commitOf(ALICE, commits.head, false)] } },
    ),
    2,
  ],
  [
    'an unsigned commit without a rule about signatures',
    merged(REVIEWS, { commits: { ...commits, list: [commitOf(ALICE, commits.head, false)] } }),
    4,
  ],
  ['an approval is required and given', merged(REVIEWS), 4],
  ['the approval is stale', merged(REVIEWS, { reviews: [reviewOf(BOB, 'approved', { stale: true })] }), 3],
  [
    'the approver has written a commit',
    merged(REVIEWS, { commits: { ...commits, list: [commitOf(BOB, 'd'.repeat(40)), commitOf(ALICE)] } }),
    3,
  ],
  ['a bot approved', merged(REVIEWS, { reviews: [reviewOf(BOT)] }), 3],
  ['commits are missing in the list', merged(REVIEWS, { commits: { ...commits, complete: false } }), 3],
  [
    'an author is unknown',
    merged(REVIEWS, { commits: { ...commits, list: [{ ...commitOf(ALICE), author: UNKNOWN }] } }),
    3,
  ],
]
for (const [title, record, level] of LEVELS)
  test(`source level ${level}: ${title}`, () => assert.equal(getLevel(record), level))

test('more facts about protection never give a lower level', () => {
  const flags = ['blocks_force_pushes', 'blocks_deletion', 'requires_pull_request'] as const
  let level = 0
  for (let count = 0; count <= flags.length; count += 1) {
    const next = getLevel(merged(Object.fromEntries(flags.slice(0, count).map((flag) => [flag, true]))))
    assert.ok(next >= level)
    level = next
  }
})

const isReviewedAtEnd = (record: ChangeRecord) => isReviewed(record, record.commits.merge)

test('reviewed: a standing approval of the last commit by a person who did not write the change', () => {
  assert.equal(isReviewedAtEnd(merged(null)), true)
  assert.equal(isReviewedAtEnd(merged(null, { reviews: [] })), false)
  assert.equal(isReviewedAtEnd(merged(null, { reviews: [reviewOf(ALICE)] })), false)
  assert.equal(isReviewedAtEnd(merged(null, { reviews: [reviewOf(null)] })), false)
  assert.equal(isReviewedAtEnd(merged(null, { reviews: [reviewOf(BOB, 'approved', { stale: true })] })), false)
  assert.equal(
    isReviewedAtEnd(merged(null, { reviews: [reviewOf(BOB), reviewOf(BOB, 'dismissed', { minute: 11 })] })),
    false,
  )
  assert.equal(isReviewedAtEnd(merged(null, { reviews: [reviewOf(BOB, 'approved', { minute: 90 })] })), false)
  assert.equal(isReviewedAtEnd(pushed({})), false)
})

test('only the commit that a change ends with has the protection of the branch', () => {
  const [earlier, last] = [commitOf(ALICE, 'd'.repeat(40)), commitOf(ALICE)]
  const record = merged(REVIEWS, { commits: { ...commits, list: [earlier, last] } })
  const shas = [commits.merge, commits.head, earlier.sha]
  assert.deepEqual(
    shas.map((sha) => computeSourceLevel(record, sha)),
    [4, 1, 1],
  )
  assert.deepEqual(
    shas.map((sha) => isReviewed(record, sha)),
    [true, true, false],
  )
})
