import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACTIONS, describeAction } from './audit-vocabulary.ts'

test('actions read as sentences', () => {
  const examples = [
    ['api_key.create', 'API key created'],
    ['connection.renew', 'Connection renewed'],
    ['deployment.approve', 'Deployment approved'],
    ['deployment.override', 'Deployment overridden'],
    ['finding_stream.take_over', 'Finding stream taken over'],
    ['gate.delete', 'Gate deleted'],
    ['member.change_role', 'Member role changed'],
    ['member.join_by_sso', 'Member joined by single sign-on'],
    ['member.leave', 'Member left'],
    ['oidc_trust.unpin', 'OIDC trust unpinned'],
    ['policy.apply', 'Policy applied'],
    ['session.end', 'Session ended'],
    ['passkey.add', 'Passkey added'],
    ['triage.dismiss', 'Triage dismissed'],
  ] as const
  for (const [action, text] of examples) {
    assert.ok(ACTIONS.includes(action), action)
    assert.equal(describeAction(action), text)
  }
})
