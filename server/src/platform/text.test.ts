import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isDisplayName, toDisplayName, truncate } from './text.ts'

test('a name has 1 to the maximum of characters', () => {
  for (const name of ['A', 'Ada Lovelace', '🚀'.repeat(12), 'מנהל']) assert.ok(isDisplayName(name, 12), name)
  for (const name of ['', 'x'.repeat(13)]) assert.ok(!isDisplayName(name, 12), name)
})

test('a name has no control characters, line breaks or changes of direction', () => {
  for (const char of ['\n', '\r', '\0', '\u0085', '\u2028', '\u2029', '\u202e', '\u2066'])
    assert.ok(!isDisplayName(`Ada${char}Lovelace`, 100), JSON.stringify(char))
})

test('the text of another system becomes a name, or nothing', () => {
  assert.equal(toDisplayName(' Ada\r\nLovelace\u202e', 100), 'Ada  Lovelace')
  assert.equal(toDisplayName('Ada Lovelace', 4), 'Ada')
  assert.equal(toDisplayName('\u202e\n', 100), '')
})

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
