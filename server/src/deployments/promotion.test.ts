import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getVerdict, hasSucceeded, isOver, type PromotedDeployment } from './promotion.ts'

const AT = new Date('2026-03-01T10:00:00.000Z')

/** A successful deployment that our rule approved, without policies. */
function deployment(fields: Partial<PromotedDeployment> = {}): PromotedDeployment {
  return {
    org_id: 'o',
    id: 'd',
    provider: 'github',
    repository_id: '1',
    address: 'github.com/acme/api',
    environment: 'production',
    branch: 'main',
    commit_sha: 'a'.repeat(40),
    status: 'success',
    run_status: 'success',
    custom_rule_state: 'approved',
    succeeded_at: AT,
    created_at: AT,
    bypass: null,
    override: null,
    policy_evaluation: null,
    accepts_any_trust: false,
    ...fields,
  }
}

const evaluated = (decision: string, evaluation_id = 'e1') => ({ policy_evaluation: { evaluation_id, decision } })
const bypassed = (...gates: string[]) => ({
  bypass: { at: AT.toISOString(), from: 'pending_approval', to: 'success', actor: 'ada', gates, policies: [] },
})
const PASSED = { failed: false, policies_passed: true, gated: true }

const VERDICTS: [title: string, fields: Partial<PromotedDeployment>, verdict: ReturnType<typeof getVerdict>][] = [
  ['approved without policies', {}, { ...PASSED, policies_passed: false }],
  ['approved by policies', evaluated('approve'), PASSED],
  ['only policies in monitor', evaluated('none'), { ...PASSED, policies_passed: false }],
  ['blocked', evaluated('block'), { ...PASSED, failed: true, policies_passed: false }],
  [
    'blocked and overridden',
    { ...evaluated('block'), override: { evaluation_id: 'e1' } },
    { ...PASSED, policies_passed: false },
  ],
  [
    'blocked again after an override',
    { ...evaluated('block', 'e2'), override: { evaluation_id: 'e1' } },
    { ...PASSED, failed: true, policies_passed: false },
  ],
  [
    'passed after an override',
    { ...evaluated('approve', 'e2'), override: { evaluation_id: 'e1' } },
    { ...PASSED, policies_passed: false },
  ],
  [
    'our rule was bypassed',
    { ...evaluated('approve'), ...bypassed('customRule') },
    { ...PASSED, failed: true, gated: false },
  ],
  [
    'reviewers were bypassed',
    { ...evaluated('approve'), ...bypassed('required_reviewers') },
    { ...PASSED, gated: false },
  ],
  ['our rule still waits', { custom_rule_state: 'pending' }, { failed: true, policies_passed: false, gated: false }],
  ['our rule rejected', { custom_rule_state: 'rejected' }, { failed: true, policies_passed: false, gated: false }],
  ['our rule was not asked', { custom_rule_state: null }, { failed: false, policies_passed: false, gated: false }],
]
for (const [title, fields, verdict] of VERDICTS)
  test(`verdict: ${title}`, () => assert.deepEqual(getVerdict(deployment(fields)), verdict))

test('a deployment has succeeded if the host said so, whatever followed', () => {
  assert.equal(hasSucceeded(deployment()), true)
  assert.equal(hasSucceeded(deployment({ status: 'rolled_back' })), true)
  assert.equal(hasSucceeded(deployment({ status: 'rejected' })), true)
  for (const status of ['rejected', 'expired', 'failure', 'cancelled', 'in_progress', 'approved'] as const)
    assert.equal(hasSucceeded(deployment({ status, succeeded_at: null })), false, status)
})

test('a deployment is over when it and its attempt have ended; an unknown attempt does not count', () => {
  assert.equal(isOver(deployment({ run_status: null })), true)
  assert.equal(isOver(deployment({ run_status: 'in_progress' })), false)
  assert.equal(isOver(deployment({ run_status: 'queued' })), false)
  for (const status of ['pending_approval', 'approved', 'in_progress'] as const)
    assert.equal(isOver(deployment({ status })), false, status)
})
