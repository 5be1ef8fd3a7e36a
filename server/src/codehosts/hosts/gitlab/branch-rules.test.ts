import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FoundRules, parseBranchRules } from './branch-rules.ts'

const NONE: FoundRules = {
  protectedBranches: [],
  approvalRules: [],
  pushRule: null,
  statusChecks: [],
  settings: { ci_config_path: null, merge_trains: false, needs_pipeline: false, needs_status_checks: false },
  complete: true,
}
const branch = (name: string, level: number, fields = {}) => ({
  name,
  push_access_levels: [{ access_level: level }],
  ...fields,
})

test('a branch without protection has no rules', () => {
  assert.deepEqual(parseBranchRules('main', { ...NONE, protectedBranches: [branch('release/*', 0)] }), {
    requires_pull_request: false,
    required_approvals: 0,
    requires_code_owner_review: false,
    required_checks: [],
    requires_signatures: false,
    blocks_force_pushes: false,
    blocks_deletion: false,
    requires_merge_queue: false,
    complete: true,
  })
})

test('several rules of a branch permit what one of them permits, and require what one requires', () => {
  const closed = branch('main', 0, { code_owner_approval_required: true })
  const of = (...protectedBranches: object[]) => parseBranchRules('main', { ...NONE, protectedBranches })
  assert.deepEqual(
    [of(closed).requires_pull_request, of(closed).blocks_force_pushes, of(closed).blocks_deletion],
    [true, true, true],
  )
  const both = of(closed, branch('*', 40, { allow_force_push: true }))
  assert.deepEqual(
    [both.requires_pull_request, both.blocks_force_pushes, both.requires_code_owner_review],
    [false, false, true],
  )
})

test('approval rules and status checks of other branches do not apply', () => {
  const only = (name: string, fields: object) => ({ ...fields, protected_branches: [{ name }] })
  const found = {
    ...NONE,
    protectedBranches: [branch('main', 0)],
    approvalRules: [
      only('release/*', { approvals_required: 5 }),
      { approvals_required: 2, protected_branches: [] },
      { approvals_required: 3, applies_to_all_protected_branches: true },
    ],
    statusChecks: [only('main', { name: 'scan' }), only('next', { name: 'other' }), { name: 'all' }],
    settings: { ...NONE.settings, needs_status_checks: true },
    pushRule: { reject_unsigned_commits: true },
  }
  const main = parseBranchRules('main', found)
  assert.deepEqual(
    [main.required_approvals, main.required_checks, main.requires_signatures],
    [3, ['all', 'scan'], true],
  )
  assert.equal(parseBranchRules('release/1', found).required_approvals, 5)
  assert.deepEqual(parseBranchRules('main', { ...found, settings: NONE.settings }).required_checks, [])
})

test('a required pipeline is a rule that has no name', () => {
  const settings = { ...NONE.settings, needs_pipeline: true }
  assert.equal(parseBranchRules('main', { ...NONE, settings }).complete, false)
})

for (const [pattern, name, fits] of [
  ['release/*', 'release/1.0', true],
  ['*-stable', '16-4-stable', true],
  ['a*b*c', 'a-b-c', true],
  ['ab*bc', 'abc', false],
  ['*', 'main', true],
  ['main', 'main2', false],
  ['m.in', 'main', false],
] as const)
  test(`${pattern} ${fits ? 'covers' : 'does not cover'} ${name}`, () => {
    const found = parseBranchRules(name, { ...NONE, protectedBranches: [branch(pattern, 0)] })
    assert.equal(found.blocks_deletion, fits)
  })
