import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { shortened } from './shortened.ts'

test('a text within the limit stays as it is; a longer one ends with an ellipsis', () => {
  assert.equal(shortened('abcd', 4), 'abcd')
  assert.equal(shortened('abcde', 4), 'abc…')
})

test('no text is longer than the limit, and no character is cut in half', () => {
  assert.equal(shortened('ab🦊🦊', 4), 'ab…')
  const texts = fc.string({ unit: 'binary', maxLength: 20 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, max) => {
      const short = shortened(text, max)
      return short.length <= max && short.isWellFormed()
    }),
  )
})
