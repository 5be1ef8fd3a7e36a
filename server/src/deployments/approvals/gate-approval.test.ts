import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequiredGate } from '../required-gate.store.ts'
import type { Answer } from './answer.store.ts'
import { newlyApproved } from './gate-approval.ts'

const RUN_KEY = 'run key'

function gate(id: string, fields: Partial<RequiredGate> = {}): RequiredGate {
  const asks = { required_approvals: 1, allow_api_keys: true, allow_run_creator: true, policies: [] }
  return { id, name: id, ...asks, approved_at: null, ...fields }
}

function said(principal_id: string, fields: Partial<Answer> = {}): Answer {
  const who = { principal_type: 'api_key', principal_name: principal_id } as const
  const what = { decision: 'approved', reason: '', comment: null, answered_at: new Date(0) } as const
  return { id: principal_id, principal_id, ...who, ...what, ...fields }
}

test('a gate is approved by as many principals as it asks for', () => {
  const gates = [gate('one'), gate('two', { required_approvals: 2 })]
  assert.deepEqual(newlyApproved(gates, [said('a')], null), ['one'])
  assert.deepEqual(newlyApproved(gates, [said('a'), said('b')], null), ['one', 'two'])
})

test('a gate that takes no keys counts people only', () => {
  const people = [gate('people', { allow_api_keys: false })]
  assert.deepEqual(newlyApproved(people, [said('a'), said('b')], null), [])
  assert.deepEqual(newlyApproved(people, [said('ada', { principal_type: 'user' })], null), ['people'])
})

test('the credential that reported the run counts where the gate lets it', () => {
  const gates = [gate('lax'), gate('strict', { allow_run_creator: false })]
  assert.deepEqual(newlyApproved(gates, [said(RUN_KEY)], RUN_KEY), ['lax'])
  assert.deepEqual(newlyApproved(gates, [said(RUN_KEY), said('b')], RUN_KEY), ['lax', 'strict'])
})

test('a rejection approves nothing, and what is approved is not approved again', () => {
  assert.deepEqual(newlyApproved([gate('one')], [said('a', { decision: 'rejected' })], null), [])
  assert.deepEqual(newlyApproved([gate('one', { approved_at: new Date(0) })], [said('a')], null), [])
})
