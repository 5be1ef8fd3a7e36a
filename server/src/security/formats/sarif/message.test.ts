import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageText } from './message.ts'
import { readRule } from './rule.ts'
import { newComponent, newRun } from './sarif-run.ts'

const component = { ...newComponent(), messages: new Map([['shared', 'Shared {0}']]) }
const rule = readRule({ id: 'R', messageStrings: { default: { text: '"{0}" in {1}, {0} again, {{0}}' } } }, component)
const text = (message: unknown) => messageText(newRun(), message, rule)

test('a message by id is taken from the rule, else from its component, with the arguments put in', () => {
  assert.equal(text({ id: 'default', arguments: ['x', 'y'] }), '"x" in y, x again, {0}')
  assert.equal(text({ id: 'shared', arguments: ['z'] }), 'Shared z')
  assert.equal(text({ id: 'unknown' }), null)
})

test('a placeholder without its argument stays', () => {
  assert.equal(text({ id: 'default', arguments: ['x'] }), '"x" in {1}, x again, {0}')
})

test('a text without arguments is taken as it stands, braces and all', () => {
  assert.equal(text({ text: 'use {{ a }} or {0}' }), 'use {{ a }} or {0}')
})

test('a text with arguments has them put in', () => {
  assert.equal(text({ text: '{0}{{}}', arguments: ['x'] }), 'x{}')
})

test('a message that is a bare text is that text', () => {
  assert.equal(text('Something is wrong'), 'Something is wrong')
})

test('a link to a location of the result is its text, any other link stays', () => {
  assert.equal(text({ text: 'Depends on a [user value](1) and [another](2).' }), 'Depends on a user value and another.')
  assert.equal(text({ text: 'See [docs](https://x.example) and a[0](1)' }), 'See [docs](https://x.example) and a[0](1)')
  assert.equal(text({ id: 'shared', arguments: ['[here](3)'] }), 'Shared here')
})

test('markdown stands in where there is no text', () => {
  assert.equal(text({ text: ' ', markdown: '**x**' }), '**x**')
  assert.equal(text(null), null)
})

test('a text that repeats a long argument does not grow without bound', () => {
  const long = text({ text: '{0}'.repeat(100_000), arguments: ['x'.repeat(100_000)] })
  assert.ok((long ?? '').length <= 16 * 1024)
})
