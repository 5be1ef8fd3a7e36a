import assert from 'node:assert/strict'
import type { Answer } from './api.ts'
import type { Json } from './json.ts'

/** The error envelope with this status and code, and nothing beside it. Returns its details. */
export function assertError(answer: Answer, status: number, code: string): Json {
  assert.deepEqual([answer.status, answer.body?.error?.code], [status, code], answer.text)
  assert.deepEqual(Object.keys(answer.body), ['error'])
  assert.deepEqual(Object.keys(answer.body.error).sort(), ['code', 'details', 'message'])
  assert.ok(answer.body.error.message)
  if (status === 429 || status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  return answer.body.error.details
}

/** 400 `invalid_request` that names this one place. */
export function assertInvalid(answer: Answer, path: string): void {
  const { errors } = assertError(answer, 400, 'invalid_request')
  assert.deepEqual(
    errors.map((error: { path: string }) => error.path),
    [path],
    answer.text,
  )
  for (const { message } of errors) assert.ok(message)
}
