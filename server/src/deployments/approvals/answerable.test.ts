import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentState, RequiredGate } from '../deployment-state.ts'
import type { Answer } from './answer.store.ts'
import { type AnswerContext, checkAnswerable, type Openers, selectApprovedGates } from './answerable.ts'

const RUN_KEY = 'run key'
const NO_LOOSENERS = { loosener_ids: [], strict_loosener_ids: [] }
const NOBODY: Openers = { credential_ids: [], creator_ids: [], starter_ids: [], unlinked_ids: [], ...NO_LOOSENERS }
const BY_RUN_KEY: Openers = { ...NOBODY, credential_ids: [RUN_KEY] }

const selectApproved = (context: Omit<AnswerContext, 'state'>) => selectApprovedGates(context, false)

function gate(id: string, fields: Partial<RequiredGate> = {}): RequiredGate {
  const asks = {
    required_approvals: 1,
    allow_api_keys: true,
    allow_run_creator: true,
    policies: [],
    approve_by_policies: false,
    require_linked_accounts: false,
  }
  return {
    id,
    name: id,
    ...asks,
    approved_at: null,
    approved_by: null,
    after_rejection: false,
    asks_earlier: false,
    replaced_at: null,
    ...fields,
  }
}

function makeApproval(principal_id: string, fields: Partial<Answer> = {}): Answer {
  const principal = { principal_type: 'api_key', principal_name: principal_id, person_id: principal_id } as const
  const content = {
    decision: 'approved',
    reason: '',
    comment: null,
    answered_at: new Date(0),
    permissions: null,
  } as const
  return { id: principal_id, principal_id, ...principal, ...content, ...fields }
}

test('a gate is approved once it has the required number of approvals', () => {
  const gates = [gate('one'), gate('two', { required_approvals: 2 })]
  assert.deepEqual(selectApproved({ required: gates, answers: [makeApproval('a')], openers: NOBODY }), ['one'])
  assert.deepEqual(
    selectApproved({ required: gates, answers: [makeApproval('a'), makeApproval('b')], openers: NOBODY }),
    ['one', 'two'],
  )
})

test('a gate that does not allow API keys counts only the approvals of users', () => {
  const people = [gate('people', { allow_api_keys: false })]
  assert.deepEqual(
    selectApproved({ required: people, answers: [makeApproval('a'), makeApproval('b')], openers: NOBODY }),
    [],
  )
  assert.deepEqual(
    selectApproved({
      required: people,
      answers: [makeApproval('ada', { principal_type: 'user' })],
      openers: NOBODY,
    }),
    ['people'],
  )
})

test('the credential that reported the run counts only if the gate allows it', () => {
  const gates = [gate('lax'), gate('strict', { allow_run_creator: false })]
  assert.deepEqual(selectApproved({ required: gates, answers: [makeApproval(RUN_KEY)], openers: BY_RUN_KEY }), ['lax'])
  assert.deepEqual(
    selectApproved({ required: gates, answers: [makeApproval(RUN_KEY), makeApproval('b')], openers: BY_RUN_KEY }),
    ['lax', 'strict'],
  )
})

test('a rejection approves no gate, and an approved gate is not returned again', () => {
  assert.deepEqual(
    selectApproved({
      required: [gate('one')],
      answers: [makeApproval('a', { decision: 'rejected' })],
      openers: NOBODY,
    }),
    [],
  )
  assert.deepEqual(
    selectApproved({
      required: [gate('one', { approved_at: new Date(0) })],
      answers: [makeApproval('a')],
      openers: NOBODY,
    }),
    [],
  )
})

test('a deployment that waits although its gates are approved takes the answer of who could approve them', () => {
  const waiting = { host: null, status: 'pending_approval', custom_rule_state: 'pending', answer_until: null }
  const context = { state: waiting as DeploymentState, required: [gate('one', { approved_at: new Date(0) })] }
  const late = { ...makeApproval('late'), scopes: [] }
  checkAnswerable({ ...context, answers: [], openers: NOBODY }, late, new Date(1))
  const opened = { ...context, required: [gate('one', { approved_at: new Date(0), allow_run_creator: false })] }
  assert.throws(
    () => checkAnswerable({ ...opened, answers: [], openers: { ...NOBODY, creator_ids: ['late'] } }, late, new Date(1)),
    { status: 409, code: 'run_creator_refused' },
  )
})

test('approvals override together if one has each permission, and count alone only with that to answer', () => {
  const approval = (id: string, ...permissions: string[]) => makeApproval(id, { permissions })
  const select = (overrides: boolean, ...answers: Answer[]) =>
    selectApprovedGates({ required: [gate('one')], answers, openers: NOBODY }, overrides)
  const [answers, overrides] = [approval('a', 'answer_deployment_gates'), approval('b', 'override_compliance')]
  assert.deepEqual([select(true, answers), select(true, overrides)], [[], []])
  assert.deepEqual(select(true, answers, overrides), ['one'])
  assert.deepEqual([select(false, answers), select(false, overrides)], [['one'], []])
})
