import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decision } from '../answers/answer-options.ts'
import type { Deployment } from '../facts/deployment-state.ts'
import { findWaitAgain, timelineOf } from './timeline.ts'

const at = (minute: number) => `2026-03-01T10:0${minute}:00.000Z`

const NOTHING = {
  ...{ created_at: at(0), updated_at: at(9), status: 'success', author: 'octo', reviews: [], approvals: [] },
  ...{ policy_evaluation: null, override: null, bypass: null, deployed_at: null, rollback_at: null },
}
const UNDECIDED = { opened_by: null, gates: [], history: [] }

function entriesOf(deployment: object, decision: object = {}) {
  const found = timelineOf(
    { ...NOTHING, ...deployment } as unknown as Deployment,
    { ...UNDECIDED, ...decision } as unknown as Decision,
  )
  return found.map(({ title, by, note }) => [title, by, note].filter(Boolean).join(' | '))
}

test('everything that happened stands in its order, with who did it', () => {
  const answer = { display_name: 'Ada', email: 'ada@example.com', note: 'Because.', decision: 'approved' }
  const entries = entriesOf(
    {
      deployed_at: at(8),
      bypass: { at: at(7), actor: 'admin', gates: ['customRule'], policies: ['Tests'] },
      override: {
        at: at(4),
        display_name: 'Ada',
        email: 'ada@example.com',
        self_override: false,
        policies: [{ name: 'Tests' }],
      },
      approvals: [
        { ...answer, principal: 'user', at: at(4) },
        { ...answer, principal: 'api_key', display_name: 'ci', email: null, at: at(3), note: null },
      ],
      reviews: [{ state: 'approved', reviewer: 'grace', comment: 'OK', reviewed_at: at(5) }],
      policy_evaluation: { at: at(1), decision: 'block' },
    },
    {
      opened_by: { type: 'api_key', name: 'deploy' },
      gates: [
        { name: 'Production', approved_at: at(6), approved_by: 'policies' },
        { name: 'Other', approved_at: null },
      ],
    },
  )
  assert.deepEqual(entries, [
    'Opened | the API key “deploy”',
    'Policies evaluated: they block',
    'Approved | the API key “ci”, not a person',
    'Approved | Ada <ada@example.com> | Because.',
    'Policies overridden | Ada <ada@example.com> | Tests',
    'Approved on the code host | grace | OK',
    'Gate Production approved | policies',
    'Protection rules bypassed | admin | customRule, policy Tests',
    'Deployed',
  ])
})

test('what policies and Shiplock did comes from the history; unknown actions are left out', () => {
  const history = [
    { at: at(1), action: 'deployment.approve', by: 'Tests', principal: 'policy', reason: 'All policies pass' },
    { at: at(2), action: 'deployment.expire', by: 'Shiplock', principal: 'system', reason: null },
    { at: at(3), action: 'deployment.bypass', by: 'Shiplock', principal: 'system', reason: null },
  ]
  assert.deepEqual(entriesOf({}, { history }), [
    'Opened | octo',
    'Approved | the policies Tests | All policies pass',
    'Expired | Shiplock',
  ])
})

test('a review without a time comes last', () => {
  const reviews = [{ state: 'rejected', reviewer: 'grace', comment: null, reviewed_at: null }]
  assert.deepEqual(entriesOf({ reviews, deployed_at: at(8) }).at(-1), 'Rejected on the code host | grace')
})

test('who said what of a deployment, and how far it can be trusted', () => {
  const by = { type: 'oidc_trust', name: 'shop' }
  const marks = [
    { at: at(2), status: 'in_progress', trust: 'verified', by, version: null, url: null },
    {
      at: at(3),
      status: 'failure',
      trust: 'self_reported',
      by: { type: 'api_key', name: 'ci' },
      version: null,
      url: null,
    },
    { at: at(4), status: 'success', trust: 'verified', by, version: '1.2', url: 'https://example.com' },
  ]
  assert.deepEqual(entriesOf({ marks, deployed_at: at(4) }), [
    'Opened | octo',
    'Reported as deploying | a CI job of the trust “shop” | Verified by its token',
    'Reported as failed | the API key “ci” | Reported by an API key',
    'Reported as deployed | a CI job of the trust “shop” | Verified by its token, 1.2, https://example.com',
  ])
  assert.deepEqual(entriesOf({ status: 'approved', marks: [] }), ['Opened | octo'])
})

test('what another lane has said takes the place of nothing that happened', () => {
  const by = { type: 'api_key', name: 'ci' }
  const said = { trust: 'self_reported', by, version: null, url: null }
  assert.deepEqual(entriesOf({ marks: [{ ...said, at: at(3), status: 'success' }], deployed_at: at(4) }), [
    'Opened | octo',
    'Reported as deployed | the API key “ci” | Reported by an API key',
    'Deployed',
  ])
  assert.equal(entriesOf({ status: 'failure', marks: [{ ...said, at: at(3), status: 'failure' }] }).at(-1), 'Failed')
})

test('a deployment that waits says since when and why it waits again, by its newest entry', () => {
  const entry = (action: string, minute: number, reason: string) => ({ action, at: at(minute), reason })
  const history = [
    entry('deployment.ask_again', 5, 'The last.'),
    entry('deployment.ask_again', 3, 'The first.'),
    entry('deployment.approve', 4, 'Passed.'),
  ]
  const find = (status: string, given: object[]) =>
    findWaitAgain(
      { ...NOTHING, status } as unknown as Deployment,
      { ...UNDECIDED, history: given } as unknown as Decision,
    )
  assert.equal(find('pending_approval', history)?.reason, 'The last.')
  assert.equal(find('approved', history), null)
  assert.equal(find('pending_approval', []), null)
})
