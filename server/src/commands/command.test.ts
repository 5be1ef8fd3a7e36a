import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration, UsageError } from './command.ts'

test('days, hours and minutes are read, up to ten years', () => {
  assert.equal(parseDuration('expires-in', '90d'), 7_776_000_000)
  assert.equal(parseDuration('expires-in', '12h'), 43_200_000)
  assert.equal(parseDuration('expires-in', '30m'), 1_800_000)
  assert.equal(parseDuration('expires-in', '3650d'), 315_360_000_000)
})

test('a value that is not a duration, is zero or exceeds ten years is refused', () => {
  for (const text of ['', '0d', '-1d', '90', '1.5h', '90 d', '1w', 'd', '3651d', '999999d', '9999999m'])
    assert.throws(() => parseDuration('expires-in', text), UsageError, text)
})
