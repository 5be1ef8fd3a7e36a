import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/api-error.ts'
import { pauseAfter } from './patiently.ts'

const refusal = (status: number, retryAfter: number | null = null) =>
  new ApiError(status, { code: 'code', message: 'Message.' }, retryAfter)

test('a rate limit is waited for as long as the server says', () => {
  assert.equal(pauseAfter(refusal(429, 17), 1)?.seconds, 17)
  assert.equal(pauseAfter(refusal(429, 17), 100)?.seconds, 17)
})

test('a limit of the plan is not waited for', () => {
  assert.equal(pauseAfter(refusal(429, 86_400), 1), null)
})

test('a lost connection and a failing server are tried again, with growing pauses, and not for ever', () => {
  const seconds = (error: unknown) => [1, 2, 7, 8].map((tries) => pauseAfter(error, tries)?.seconds ?? null)
  assert.deepEqual(seconds(new TypeError('Failed to fetch')), [2, 4, 20, null])
  assert.deepEqual(seconds(refusal(500)), [2, 4, 20, null])
  assert.equal(pauseAfter(refusal(503, 5), 1)?.seconds, 5)
})

test('a refusal is final', () => {
  for (const status of [400, 401, 403, 404, 409, 413]) assert.equal(pauseAfter(refusal(status), 1), null)
})
