import assert from 'node:assert/strict'
import { normalize } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkObjectKey } from './object-store.ts'

test('one to eight segments of letters, digits, _ and - are a key', () => {
  const keys = ['a', 'uploads/org_1/0f-3', 'A'.repeat(64), 'a/b/c/d/e/f/g/h', '-/_']
  for (const key of keys) assert.doesNotThrow(() => checkObjectKey(key), key)
})

test('a string that could name another path is not a key', () => {
  const others = [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    'a/./b',
    '.incoming/a',
    'a.b',
    'a\\b',
    'a%2fb',
    'a b',
  ]
  others.push('a\n', '\na', 'a\0', 'é', 'a/b/c/d/e/f/g/h/i', 'A'.repeat(65), 'C:', '~', 'a?b', 'a#b')
  for (const key of others) assert.throws(() => checkObjectKey(key), TypeError, JSON.stringify(key))
})

test('no text that is accepted changes when a path is made of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '-', '\\', '%', '\0', '\n') }), (text) => {
      try {
        checkObjectKey(text)
      } catch {
        return
      }
      assert.equal(normalize(`/root/${text}`), `/root/${text}`)
      assert.doesNotMatch(text, /[.\\%\0\n]/)
    }),
    { numRuns: 2000 },
  )
})
