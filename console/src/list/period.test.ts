import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWindow } from './search-params.ts'

test('a period is from the first to the last moment of its days, in the zone of the reader', () => {
  const { since, until } = toWindow({ since: '2026-01-31', until: '2026-01-31' })
  assert.equal(since, new Date(2026, 0, 31).toISOString())
  assert.equal(until, new Date(2026, 0, 31, 23, 59, 59, 999).toISOString())
})

test('a day that is not given or does not exist is no filter', () => {
  assert.deepEqual(toWindow({}), { since: undefined, until: undefined })
  assert.deepEqual(toWindow({ since: '2026-99-99' }), { since: undefined, until: undefined })
})
