import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.ts'
import { findFieldErrors } from './form-errors.ts'

const has =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name)

function refusal(errors: unknown): ApiError {
  return new ApiError(400, { code: 'invalid_request', message: 'Not valid.', details: { errors } }, null)
}

test('an error is shown at its field, as a sentence', () => {
  const error = refusal([{ path: '/body/name', message: 'must not be empty' }])
  assert.deepEqual(findFieldErrors(error, has('name')), { fields: { name: 'Must not be empty.' }, others: [] })
})

test('an error in a list is shown at its row, or at the list', () => {
  const error = refusal([{ path: '/body/role_map/0/role', message: 'is unknown' }])
  assert.deepEqual(findFieldErrors(error, has('role_map.0.role')).fields, { 'role_map.0.role': 'Is unknown.' })
  assert.deepEqual(findFieldErrors(error, has('role_map')).fields, { role_map: 'Is unknown.' })
})

test('the first error of a field counts', () => {
  const error = refusal([
    { path: '/body/name', message: 'is too long' },
    { path: '/body/name', message: 'is odd' },
  ])
  assert.equal(findFieldErrors(error, has('name')).fields.name, 'Is too long.')
})

test('an error of no field is not lost', () => {
  const error = refusal([{ path: '/body/a~1b', message: 'is unknown' }])
  assert.deepEqual(findFieldErrors(error, has('name')), { fields: {}, others: ['a~1b is unknown'] })
})

test('a code can name its field', () => {
  const error = new ApiError(409, { code: 'role_name_taken', message: 'Taken.' }, null)
  assert.deepEqual(findFieldErrors(error, has('name'), { role_name_taken: 'name' }).fields, { name: 'Taken.' })
})

test('an error without a response, or with details of another form, has no fields', () => {
  assert.deepEqual(findFieldErrors(new TypeError('fetch failed'), has('name')), { fields: {}, others: [] })
  assert.deepEqual(findFieldErrors(refusal('odd'), has('name')), { fields: {}, others: [] })
})
