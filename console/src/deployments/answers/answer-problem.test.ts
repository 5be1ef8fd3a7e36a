import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.ts'
import { describeAnswerProblem } from './answer-options.ts'

const describe = (status: number, code: string) =>
  describeAnswerProblem(new ApiError(status, { code, message: `${code}.` }, null), `${code}.`)

test('an answer that came too late cannot be sent again', () => {
  for (const code of ['already_decided', 'run_finished', 'not_gated', 'run_creator_refused'])
    assert.equal(describe(409, code).isFinal, true, code)
  assert.equal(describe(409, 'already_decided').text, 'already_decided.')
  assert.equal(describe(404, 'not_found').isFinal, true)
})

test('a policy that blocks since then asks for a reason', () => {
  const { needsReason, isFinal } = describe(400, 'reason_required')
  assert.deepEqual([needsReason, isFinal], [true, false])
})

test('what may pass can be sent again', () => {
  assert.equal(describe(503, 'unavailable').isFinal, false)
  assert.equal(describeAnswerProblem(new TypeError('fetch failed'), '').isFinal, false)
  assert.equal(describe(403, 'fresh_sign_in_required').title, 'Nothing was recorded')
})
