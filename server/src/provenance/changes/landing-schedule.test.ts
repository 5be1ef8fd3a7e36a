import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CommitState, computeNextTry, decideNextStep, hasPresentRules, isLate } from './landing-schedule.ts'

const LANDED = Date.UTC(2026, 0, 31, 12)
const SECOND = 1000
const MINUTE = 60 * SECOND

const at = (ms: number) => new Date(LANDED + ms)

function stepAt(ms: number, state: CommitState, { noted = 0, asked = false } = {}) {
  const landing = { landed_at: at(0), noted_at: at(noted), asked_at: asked ? at(0) : null }
  const found = decideNextStep(landing, state, at(ms))
  return found.step === 'wait' ? found.until.getTime() - LANDED : found.step
}

test('a landing rests three seconds, so that the events of one push arrive together', () => {
  assert.equal(stepAt(0, 'finished'), 3 * SECOND)
  assert.equal(stepAt(3 * SECOND, 'finished'), 'record')
  assert.equal(stepAt(90 * MINUTE, 'finished', { noted: 90 * MINUTE }), 90 * MINUTE + 3 * SECOND)
})

test('open checks are waited for until 60 minutes after landing', () => {
  assert.equal(stepAt(3 * SECOND, 'open'), 60 * MINUTE)
  assert.equal(stepAt(60 * MINUTE - 1, 'open'), 60 * MINUTE)
  assert.equal(stepAt(60 * MINUTE, 'open'), 'record')
})

test('without a check, the host is asked after 30 seconds, once', () => {
  assert.equal(stepAt(3 * SECOND, 'unknown'), 30 * SECOND)
  assert.equal(stepAt(30 * SECOND, 'unknown'), 'ask')
  assert.equal(stepAt(30 * SECOND, 'unknown', { asked: true }), 'record')
  assert.equal(stepAt(30 * SECOND, 'open', { asked: true }), 60 * MINUTE)
  assert.equal(stepAt(99 * MINUTE, 'unknown', { noted: 90 * MINUTE }), 'ask')
})

test('what we hear of only after the deadline is late; the rules of the branch are taken for a day', () => {
  const heard = (ms: number) => isLate({ landed_at: at(0), noted_at: at(ms) })
  assert.deepEqual([heard(60 * MINUTE), heard(60 * MINUTE + 1)], [false, true])
  const known = (ms: number) => hasPresentRules({ landed_at: at(0) }, at(ms))
  assert.deepEqual([known(24 * 60 * MINUTE), known(24 * 60 * MINUTE + 1)], [true, false])
})

type Asked = { late?: boolean; tries?: number; down?: boolean; retry?: number }

function tryAfter(ms: number, { late = false, tries = 0, down = true, retry }: Asked = {}) {
  const landing = { landed_at: at(0), noted_at: at(0), late, tries }
  const failure = { is_down: down, retry_at: retry === undefined ? null : at(retry) }
  const next = computeNextTry(landing, failure, at(ms))
  return next && next.getTime() - LANDED
}

test('a host that is down is asked with growing pauses, until 60 minutes after landing', () => {
  assert.equal(tryAfter(0), 15 * SECOND)
  assert.equal(tryAfter(0, { tries: 3 }), 2 * MINUTE)
  assert.equal(tryAfter(0, { tries: 30 }), 15 * MINUTE)
  assert.equal(tryAfter(0, { retry: 20 * MINUTE }), 20 * MINUTE)
  assert.equal(tryAfter(0, { retry: 90 * MINUTE }), 60 * MINUTE)
  assert.equal(tryAfter(59 * MINUTE, { tries: 9 }), 60 * MINUTE)
  assert.equal(tryAfter(60 * MINUTE), null)
})

test('for an old landing, a host that is down is asked ten times', () => {
  assert.equal(tryAfter(900 * MINUTE, { late: true }), 900 * MINUTE + 15 * SECOND)
  assert.equal(tryAfter(900 * MINUTE, { late: true, tries: 9 }), null)
})

test('a host that answers other requests is asked twice', () => {
  const pauses = [0, 1].map((tries) => tryAfter(0, { tries, down: false }))
  assert.deepEqual(pauses, [3 * SECOND, null])
})
