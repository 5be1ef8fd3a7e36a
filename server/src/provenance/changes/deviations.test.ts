import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ALICE,
  BASE,
  BOB,
  CAROL,
  checkOf,
  commitOf,
  HEAD,
  MERGE,
  mergedRecord,
  NO_RULES,
  pushedRecord,
  reviewOf,
} from '../../../test/support/change-records.ts'
import type { RunStatus } from '../../ci/runs/run-status.ts'
import { type BranchRules, DEVIATIONS, type Deviation, type RecordOwners } from './change-record.ts'
import { computeDeviations, type UnratedRecord } from './deviations.ts'

type Case = [title: string, record: UnratedRecord, expected: Deviation[]]

const WEB_FLOW = { name: 'GitHub', email: 'noreply@github.com', id: '19864447', login: 'web-flow' }
const FAILED_RUN = {
  id: 'github_1',
  pipeline_name: 'CI',
  attempt: 1,
  status: 'failure' as const,
  url: null,
  completed_at: null,
}

const reviewed = (...reviews: UnratedRecord['reviews']) => mergedRecord({ reviews })
const ruled = (rules: Partial<BranchRules>, changes: Partial<UnratedRecord> = {}) =>
  mergedRecord({ branch_rules: { ...NO_RULES, ...rules }, ...changes })
const ruledPush = (rules: Partial<BranchRules>, changes: Partial<UnratedRecord> = {}) =>
  pushedRecord({ branch_rules: { ...NO_RULES, ...rules }, ...changes })
const commits = (changes: Partial<UnratedRecord['commits']>) => ({ ...mergedRecord().commits, ...changes })
const owned = (satisfied: RecordOwners['satisfied']) => ({
  path: 'CODEOWNERS',
  commit_sha: BASE,
  rules: [{ pattern: '*', owners: ['@carol'], files: 1, approved_by: [], satisfied }],
})

const REVIEWS: Case[] = [
  ['an approved pull request', mergedRecord(), []],
  ['no review', reviewed(), ['no_review']],
  ['a comment only', reviewed(reviewOf(BOB, 'commented')), ['no_review']],
  ['a comment after an approval', reviewed(reviewOf(BOB), reviewOf(BOB, 'commented', { minute: 20 })), []],
  [
    'a request for changes after an approval',
    reviewed(reviewOf(BOB), reviewOf(BOB, 'changes_requested', { minute: 20 })),
    ['no_review'],
  ],
  [
    'an approval after a request for changes',
    reviewed(reviewOf(BOB, 'approved', { minute: 20 }), reviewOf(BOB, 'changes_requested')),
    [],
  ],
  ['a dismissed approval', reviewed(reviewOf(BOB, 'dismissed')), ['no_review']],
  ['a request for changes of another reviewer', reviewed(reviewOf(BOB), reviewOf(CAROL, 'changes_requested')), []],
  ['an approval by a deleted account', reviewed(reviewOf(null)), []],
  ['an approval after the merge', reviewed(reviewOf(BOB, 'approved', { minute: 61 })), ['no_review']],
  [
    'an approval in the second of the merge',
    reviewed({ ...reviewOf(BOB), submitted_at: '2026-01-31T13:00:00.900Z' }),
    [],
  ],
  ['an approval by the author', reviewed(reviewOf(ALICE)), ['self_approved']],
  ['approvals by the author and another', reviewed(reviewOf(ALICE), reviewOf(BOB)), []],
  [
    'an approval by the author of a commit',
    mergedRecord({ commits: commits({ list: [commitOf(BOB, BASE), commitOf(ALICE)] }) }),
    ['self_approved'],
  ],
  [
    'an approval by the committer of a commit, known by login',
    mergedRecord({
      commits: commits({
        list: [{ ...commitOf(ALICE), committer: { name: 'B', email: null, id: null, login: 'BOB' } }],
      }),
    }),
    ['self_approved'],
  ],
  [
    'a committer that has the login of the approver and another id',
    mergedRecord({
      commits: commits({
        list: [{ ...commitOf(ALICE), committer: { name: 'B', email: null, id: '9', login: 'bob' } }],
      }),
    }),
    [],
  ],
  [
    'an approval by the one who merged, who is the committer of the commits that the merge created',
    mergedRecord({ commits: commits({ list: [commitOf(ALICE), commitOf(BOB, BASE), commitOf(BOB, MERGE)] }) }),
    [],
  ],
  [
    'an approval by the author of a commit, where the newest commit is not listed',
    mergedRecord({ commits: commits({ list: [commitOf(BOB, BASE), commitOf(CAROL, MERGE)], complete: false }) }),
    ['self_approved'],
  ],
  [
    'an approval by the committer of a commit that can be of the merge',
    mergedRecord({
      commits: commits({ list: [{ ...commitOf(BOB, BASE), author: commitOf(ALICE).author }], complete: false }),
    }),
    [],
  ],
  [
    'an approval by the one who merged, whose name the merge commit has',
    mergedRecord({ commits: commits({ list: [commitOf(ALICE), commitOf(BOB, MERGE)] }) }),
    [],
  ],
  [
    'a committer that is the website of the host',
    mergedRecord({
      commits: commits({ list: [{ ...commitOf(ALICE), committer: WEB_FLOW }] }),
      reviews: [reviewOf({ id: WEB_FLOW.id, login: WEB_FLOW.login, is_bot: true })],
    }),
    [],
  ],
  ['a stale approval', reviewed(reviewOf(BOB, 'approved', { stale: true })), ['stale_review']],
  ['a stale approval and another', reviewed(reviewOf(BOB, 'approved', { stale: true }), reviewOf(CAROL)), []],
  [
    "a stale approval and the author's",
    reviewed(reviewOf(BOB, 'approved', { stale: true }), reviewOf(ALICE)),
    ['stale_review'],
  ],
  [
    'a stale approval by the author',
    reviewed(reviewOf(ALICE, 'approved', { stale: true })),
    ['self_approved', 'stale_review'],
  ],
]

const CHECKS: Case[] = [
  [
    'a failed check of the landed commit',
    mergedRecord({ checks: [checkOf('failure', { commit_sha: MERGE })] }),
    ['check_failed'],
  ],
  [
    'a check of the landed commit that timed out',
    mergedRecord({ checks: [checkOf('timed_out', { commit_sha: MERGE })] }),
    ['check_failed'],
  ],
  ['a cancelled check', mergedRecord({ checks: [checkOf('cancelled', { commit_sha: MERGE })] }), []],
  ['a check that still runs', mergedRecord({ checks: [checkOf('in_progress', { commit_sha: MERGE })] }), []],
  ['a failed check of the head', mergedRecord({ checks: [checkOf('failure', { required: false })] }), []],
  ['a failed check of the head under unknown rules', mergedRecord({ checks: [checkOf('failure')] }), []],
  [
    'a failed required check of the head',
    mergedRecord({ checks: [checkOf('failure', { required: true })] }),
    ['check_failed'],
  ],
  ['a failed run', mergedRecord({ runs: [FAILED_RUN] }), ['check_failed']],
  ['a cancelled run', mergedRecord({ runs: [{ ...FAILED_RUN, status: 'cancelled' }] }), []],
]

const RULES: Case[] = [
  ['a push', pushedRecord(), ['direct_push']],
  ['a push with known rules that do not refuse it', ruledPush({ required_approvals: 1 }), ['direct_push']],
  [
    'a push despite required pull requests',
    ruledPush({ requires_pull_request: true }),
    ['direct_push', 'bypassed_protection'],
  ],
  [
    'a push despite a required merge queue',
    ruledPush({ requires_merge_queue: true }),
    ['direct_push', 'bypassed_protection'],
  ],
  ['a forced push', ruledPush({}, { forced: true }), ['direct_push']],
  [
    'a forced push despite the rules',
    ruledPush({ blocks_force_pushes: true }, { forced: true }),
    ['direct_push', 'bypassed_protection'],
  ],
  ['a forced push under unknown rules', pushedRecord({ forced: true }), ['direct_push']],
  ['enough approvals', ruled({ requires_pull_request: true, required_approvals: 1 }), []],
  ['too few approvals', ruled({ required_approvals: 2 }), ['bypassed_protection']],
  [
    "the author's approval instead of another",
    ruled({ required_approvals: 1 }, { reviews: [reviewOf(ALICE)] }),
    ['self_approved', 'bypassed_protection'],
  ],
  [
    'a stale approval, which the host accepted',
    ruled({ required_approvals: 1 }, { reviews: [reviewOf(BOB, 'approved', { stale: true })] }),
    ['stale_review'],
  ],
  [
    'a required check that passed on the head',
    ruled({ required_checks: ['build'] }, { checks: [checkOf('success')] }),
    [],
  ],
  [
    'a required check that passed on the landed commit',
    ruled(
      { required_checks: ['build'] },
      { landed_by: 'merge_queue', checks: [checkOf('success', { commit_sha: MERGE })] },
    ),
    [],
  ],
  ['a required check that was skipped', ruled({ required_checks: ['build'] }, { checks: [checkOf('skipped')] }), []],
  ['a required check that is absent', ruled({ required_checks: ['test'] }), ['bypassed_protection']],
  [
    'a required check that passed on another commit',
    ruled({ required_checks: ['build'] }, { checks: [checkOf('success', { commit_sha: BASE })] }),
    ['bypassed_protection'],
  ],
  [
    'a required check that failed',
    ruled({ required_checks: ['build'] }, { checks: [checkOf('failure', { required: true })] }),
    ['check_failed', 'bypassed_protection'],
  ],
  [
    'a required check that still runs',
    ruled({ required_checks: ['build'] }, { checks: [checkOf('in_progress', { required: true })] }),
    ['bypassed_protection'],
  ],
  ['code owners who approved', ruled({ requires_code_owner_review: true }, { code_owners: owned(true) }), []],
  [
    'code owners who did not approve',
    ruled({ requires_code_owner_review: true }, { code_owners: owned(false) }),
    ['bypassed_protection'],
  ],
  ['code owners of whom it is unknown', ruled({ requires_code_owner_review: true }, { code_owners: owned(null) }), []],
  ['code owners who need not approve', ruled({}, { code_owners: owned(false) }), []],
]

const UNSIGNED = commitOf(ALICE, HEAD, false)
const SIGNATURES: Case[] = [
  ['an unsigned commit', mergedRecord({ commits: commits({ list: [UNSIGNED] }) }), ['unsigned_commit']],
  [
    'a commit whose signature is unknown',
    mergedRecord({ commits: commits({ list: [{ ...UNSIGNED, signature: null }] }) }),
    [],
  ],
  [
    'an unsigned commit that was squashed, where signatures are required',
    ruled({ requires_signatures: true }, { commits: commits({ list: [UNSIGNED, commitOf(ALICE, MERGE)] }) }),
    ['unsigned_commit'],
  ],
  [
    'an unsigned commit that landed, where signatures are required',
    ruled({ requires_signatures: true }, { commits: commits({ merge: HEAD, list: [UNSIGNED] }), checks: [] }),
    ['bypassed_protection', 'unsigned_commit'],
  ],
  [
    'an unsigned commit that was pushed, where signatures are required',
    ruledPush(
      { requires_signatures: true },
      { commits: commits({ head: MERGE, list: [UNSIGNED, commitOf(ALICE, MERGE)] }) },
    ),
    ['direct_push', 'bypassed_protection', 'unsigned_commit'],
  ],
]

for (const [title, record, expected] of [...REVIEWS, ...CHECKS, ...RULES, ...SIGNATURES]) {
  test(`deviations of ${title}: ${expected.join(', ') || 'none'}`, () => {
    assert.deepEqual(computeDeviations(record), expected)
  })
}

const account = fc.constantFrom(ALICE, BOB, CAROL, null)
const review = fc
  .record({
    reviewer: account,
    state: fc.constantFrom(
      'approved' as const,
      'changes_requested' as const,
      'commented' as const,
      'dismissed' as const,
    ),
    minute: fc.nat(70),
    stale: fc.boolean(),
    id: fc.uuid(),
  })
  .map(({ reviewer, state, ...when }) => reviewOf(reviewer, state, when))
const check = fc
  .record({
    status: fc.constantFrom<RunStatus[]>('success', 'failure', 'timed_out', 'in_progress', 'skipped', 'cancelled'),
    name: fc.constantFrom('build', 'test'),
    commit_sha: fc.constantFrom(HEAD, MERGE),
    required: fc.constantFrom(true, false, null),
  })
  .map(({ status, ...about }) => checkOf(status, about))
const commit = fc
  .record({ of: fc.constantFrom(ALICE, BOB, CAROL), sha: fc.constantFrom(HEAD, MERGE, BASE), signed: fc.boolean() })
  .map(({ of, sha, signed }) => commitOf(of, sha, signed))
const rules = fc.record({
  ...NO_RULES,
  requires_pull_request: fc.boolean(),
  required_approvals: fc.nat(3),
  requires_code_owner_review: fc.boolean(),
  required_checks: fc.uniqueArray(fc.constantFrom('build', 'test')),
  requires_signatures: fc.boolean(),
  blocks_force_pushes: fc.boolean(),
  requires_merge_queue: fc.boolean(),
  blocks_deletion: fc.constant(false),
  complete: fc.boolean(),
})
const record = fc
  .record({
    make: fc.constantFrom(mergedRecord, pushedRecord),
    reviews: fc.array(review, { maxLength: 6 }),
    checks: fc.array(check, { maxLength: 4 }),
    list: fc.array(commit, { maxLength: 3 }),
    branch_rules: fc.option(rules),
    forced: fc.boolean(),
  })
  .map(({ make, list, ...changes }) => make({ ...changes, commits: { ...make().commits, list } }))

test('the order of reviews and checks has no effect', () => {
  fc.assert(
    fc.property(record, (one) => {
      const reversed = {
        ...one,
        reviews: one.reviews.toReversed(),
        checks: one.checks.toReversed(),
      }
      assert.deepEqual(computeDeviations(reversed), computeDeviations(one))
    }),
  )
})

test('the result has the order of DEVIATIONS, and no_review excludes what an approval would be', () => {
  fc.assert(
    fc.property(record, (one) => {
      const found = computeDeviations(one)
      assert.deepEqual(
        found,
        DEVIATIONS.filter((deviation) => found.includes(deviation)),
      )
      assert.equal(found.includes('direct_push'), one.landed_by === 'push')
      if (found.includes('no_review') || found.includes('direct_push'))
        assert.ok(!found.includes('self_approved') && !found.includes('stale_review'))
    }),
  )
})

test('rules that are unknown, or require nothing, are never bypassed', () => {
  fc.assert(
    fc.property(record, fc.constantFrom(null, NO_RULES), (one, branch_rules) => {
      assert.ok(!computeDeviations({ ...one, branch_rules }).includes('bypassed_protection'))
    }),
  )
})

test('a fresh approval by somebody else removes every deviation of the review, and adds none', () => {
  fc.assert(
    fc.property(record, (one) => {
      const DAVE = { id: '4', login: 'dave', is_bot: false }
      const approved = computeDeviations({ ...one, reviews: [...one.reviews, reviewOf(DAVE)] })
      const before = computeDeviations(one)
      assert.ok(approved.every((deviation) => before.includes(deviation)))
      for (const deviation of ['no_review', 'self_approved', 'stale_review'] as const)
        assert.ok(!approved.includes(deviation))
    }),
  )
})
