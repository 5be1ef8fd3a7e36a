import assert from 'node:assert/strict'
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { openToken, sealToken } from './token.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const otherKey = createSecretKey(Buffer.alloc(32, 2))

function seal(text: string, by: KeyObject = key): string {
  const encoded = Buffer.from(text).toString('base64url')
  return `${encoded}.${createHmac('sha256', by).update(encoded).digest('base64url')}`
}

test('opening a token returns the sealed payload', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (drawn) => {
      const payload = JSON.parse(JSON.stringify(drawn)) as object
      assert.deepEqual(openToken(key, sealToken(key, payload)), payload)
    }),
  )
})

test('the token is the payload and its HMAC-SHA256, both in base64url', () => {
  assert.equal(sealToken(key, { a: 1 }), seal('{"a":1}'))
})

test('changing, dropping or adding any one character makes the token invalid', () => {
  const token = sealToken(key, { path: 'a/b', size: 12 })
  for (let at = 0; at < token.length; at += 1) {
    for (const other of 'ABab09-_.=') {
      if (other === token[at]) continue
      assert.equal(openToken(key, token.slice(0, at) + other + token.slice(at + 1)), null, `${other} at ${at}`)
    }
    assert.equal(openToken(key, token.slice(0, at) + token.slice(at + 1)), null)
  }
  for (const more of ['A', '=', '.', ' ', '\n', '.A']) assert.equal(openToken(key, token + more), null)
})

test('a token of another key is invalid', () => {
  assert.equal(openToken(key, sealToken(otherKey, { a: 1 })), null)
})

test('text that is no token is null, never an exception', () => {
  for (const text of ['', '.', '..', 'a', 'a.', '.a', 'é.é', '\0.\0', 'x'.repeat(100)])
    assert.equal(openToken(key, text), null)
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(openToken(key, text), null)))
})

test('a token that is too long is refused even when its signature is right', () => {
  assert.notEqual(openToken(key, seal(JSON.stringify({ a: 'x'.repeat(6000) }))), null)
  assert.equal(openToken(key, seal(JSON.stringify({ a: 'x'.repeat(8192) }))), null)
})
