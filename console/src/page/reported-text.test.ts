import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneLine, showDeceptive, startOf } from './reported-text.ts'

test('one line of a long text ends with an ellipsis', () => {
  assert.equal(oneLine(`${'a'.repeat(10_000)}`, 10), 'aaaaaaaaa…')
  assert.equal(oneLine('  two\n lines\t', 20), 'two lines')
})

test('characters that turn the reading direction are shown', () => {
  assert.equal(oneLine('user\u202e txt.exe', 20), 'user� txt.exe')
  assert.equal(showDeceptive('a\r\nb\u0007\tc'), 'a\nb�\tc')
})

test('the start of a text is so many lines, or so many characters of one', () => {
  assert.deepEqual(startOf('a\nb\nc', 2, 100), { start: 'a\nb', isAll: false })
  assert.deepEqual(startOf('a\nb', 2, 100), { start: 'a\nb', isAll: true })
  assert.deepEqual(startOf('x'.repeat(50), 2, 10), { start: 'x'.repeat(10), isAll: false })
})
