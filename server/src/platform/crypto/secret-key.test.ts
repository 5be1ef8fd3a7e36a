import assert from 'node:assert/strict'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { computeDerivedKey, loadSecretKey } from './secret-key.ts'

const secret = createSecretKey(Buffer.from('0123456789abcdef0123456789abcdef'))

function hex(key: KeyObject): string {
  return key.export().toString('hex')
}

test('one secret and one purpose give the same key on every machine', () => {
  assert.equal(
    hex(computeDerivedKey(secret, 'cursors')),
    '7a032de8cbcbb343dc4aa816233a2e7f8f2b30a42a325206c30bb5dc77e0ebd5',
  )
})

test('each purpose has a different key, and none is the secret', () => {
  const keys = [
    secret,
    computeDerivedKey(secret, 'cursors'),
    computeDerivedKey(secret, 'uploads'),
    computeDerivedKey(secret, ''),
  ].map(hex)
  assert.equal(new Set(keys).size, keys.length)
})

test('another secret gives another key', () => {
  const other = createSecretKey(Buffer.from('0123456789abcdef0123456789abcdeF'))
  assert.notEqual(hex(computeDerivedKey(other, 'cursors')), hex(computeDerivedKey(secret, 'cursors')))
})

test('printing a key shows none of it', () => {
  const key = computeDerivedKey(secret, 'cursors')
  const printed = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify({ key })
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    assert.ok(!printed.includes(key.export().toString(encoding)), encoding)
  }
})

test('a configured secret is used without its surrounding white space', async () => {
  assert.equal(hex(await loadSecretKey(' 0123456789abcdef0123456789abcdef\n', 'unused')), hex(secret))
})

test('a configured secret under 32 characters is refused, and not repeated in the message', async () => {
  await assert.rejects(loadSecretKey('short-and-secret', 'unused'), (error: Error) => {
    assert.match(error.message, /32 characters/)
    assert.ok(!error.message.includes('short-and-secret'))
    return true
  })
})
