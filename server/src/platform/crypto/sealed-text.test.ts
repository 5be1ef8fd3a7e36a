import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { openSealedText, SealError, sealText } from './sealed-text.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const otherKey = createSecretKey(Buffer.alloc(32, 2))

test('opening a sealed text returns the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, label) => {
      assert.equal(openSealedText(key, label, sealText(key, label, text)), text)
    }),
  )
})

test('a sealed text states its version, does not contain the text, and is different each time', () => {
  const sealed = sealText(key, 'app', 'hunter2 hunter2')
  assert.match(sealed, /^v1\.[A-Za-z0-9_-]+$/)
  assert.ok(!Buffer.from(sealed.slice(3), 'base64url').includes('hunter2'))
  assert.notEqual(sealText(key, 'app', 'hunter2 hunter2'), sealed)
})

test('another key, another label and another version cannot open a sealed text', () => {
  const sealed = sealText(key, 'app', 'secret')
  assert.throws(() => openSealedText(otherKey, 'app', sealed), SealError)
  assert.throws(() => openSealedText(key, 'other app', sealed), SealError)
  for (const wrong of [sealed.replace('v1.', 'v2.'), '', 'v1.', 'v1.AAAA', 'secret'])
    assert.throws(() => openSealedText(key, 'app', wrong), SealError, wrong)
})

test('changing any one byte makes a sealed text invalid, and the error does not contain it', () => {
  const bytes = Buffer.from(sealText(key, 'app', 'secret').slice(3), 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] as number) ^ 1
    const sealed = `v1.${changed.toString('base64url')}`
    assert.throws(
      () => openSealedText(key, 'app', sealed),
      (error: Error) => error instanceof SealError && !error.message.includes(sealed),
    )
  }
})
