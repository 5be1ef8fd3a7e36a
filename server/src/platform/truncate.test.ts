import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { truncate } from './truncate.ts'

test('a text within the limit stays as it is; a longer one ends with an ellipsis', () => {
  assert.equal(truncate('abcd', 4), 'abcd')
  assert.equal(truncate('abcde', 4), 'abc…')
})

test('no text is longer than the limit, and no character is cut in half', () => {
  assert.equal(truncate('ab🦊🦊', 4), 'ab…')
  const texts = fc.string({ unit: 'binary', maxLength: 20 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, max) => {
      const short = truncate(text, max)
      return short.length <= max && short.isWellFormed()
    }),
  )
})
