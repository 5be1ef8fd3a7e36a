import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flaggedText } from './flagged-text.ts'

test('white space is no part of the flagged text, and alone it is none', () => {
  assert.equal(flaggedText('  call( a,\n\tb )\n', false), 'call(a,b)')
  assert.equal(flaggedText(' \n\t', false), null)
  assert.equal(flaggedText(null, true), null)
})

test('what a tool writes in place of the text is no text', () => {
  for (const snippet of ['REDACTED', 'requires login']) {
    assert.equal(flaggedText(snippet, false), null, snippet)
    assert.equal(flaggedText(snippet, true), null, snippet)
  }
})

test('a masked secret is not shown; code with the same signs is', () => {
  for (const snippet of ['********', 'password = "********"', 'key = REDACTED', 'AKIAIOSF...', 'AKIAIOSF…']) {
    assert.equal(flaggedText(snippet, true), null, snippet)
    assert.notEqual(flaggedText(snippet, false), null, snippet)
  }
})

test('a secret in full is shown', () => {
  assert.equal(flaggedText('AKIAIOSFODNN7EXAMPLE', true), 'AKIAIOSFODNN7EXAMPLE')
})
