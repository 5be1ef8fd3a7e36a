import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deployment, fullStateOf, stateOf, versionOf } from './deployment-state.ts'

const WAITING = {
  status: 'pending_approval',
  custom_rule_state: 'pending',
  reviewers_state: null,
  policy_decision: null,
} as const

test('a deployment that waits says for what', () => {
  assert.equal(stateOf(WAITING).label, 'Waiting for approval')
  assert.equal(stateOf({ ...WAITING, policy_decision: 'block' }).label, 'Blocked by policy')
  const approved = { ...WAITING, custom_rule_state: 'approved', policy_decision: 'block' }
  assert.equal(stateOf({ ...approved, reviewers_state: 'pending' }).label, 'Waiting for reviewers')
  assert.equal(stateOf(approved).label, 'Waiting for the code host')
})

const decided = (fields: object) =>
  fullStateOf({ ...WAITING, approvals: [], reviews: [], policy_evaluation: null, ...fields } as unknown as Deployment)
    .label

test('a decided deployment says who decided', () => {
  const approvals = [
    { decision: 'approved', display_name: 'Ada <Lovelace>', email: 'ada@example.com' },
    { decision: 'rejected', display_name: 'Grace Hopper', email: null },
  ]
  assert.equal(decided({ status: 'approved', approvals }), 'Approved by Ada Lovelace <ada@example.com>')
  assert.equal(decided({ status: 'rejected', approvals }), 'Rejected by Grace Hopper')
  assert.equal(decided({ status: 'rejected', reviews: [{ state: 'rejected', reviewer: 'octo' }] }), 'Rejected by octo')
  assert.equal(decided({ status: 'approved', policy_evaluation: { answered: 'approved' } }), 'Approved by policies')
  assert.equal(decided({ status: 'success', approvals }), 'Deployed')
})

test('the version is the release, or else the start of the commit', () => {
  assert.equal(versionOf({ version: '1.2', commit_sha: 'a'.repeat(40) }), '1.2')
  assert.equal(versionOf({ version: null, commit_sha: 'a'.repeat(40) }), 'aaaaaaa')
  assert.equal(versionOf({ version: null, commit_sha: null }), 'Unknown commit')
})
