import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createKeyText, hashApiKey, isApiKey } from './api-key.ts'

const KNOWN = knownKey()

for (const [environment, form] of [
  ['production', /^shl_live_[0-9A-Za-z]{40}[0-9A-Za-z]{6}$/],
  ['development', /^shl_dev_[0-9A-Za-z]{40}[0-9A-Za-z]{6}$/],
] as const) {
  test(`a new ${environment} key has the form that scanners look for, and is one`, () => {
    const key = createKeyText(environment)
    assert.match(key, form)
    assert.ok(isApiKey(key, environment))
  })
}

test('a key of one environment is none of the other', () => {
  assert.ok(!isApiKey(createKeyText('production'), 'development'))
  assert.ok(!isApiKey(createKeyText('development'), 'production'))
})

test('the checksum is the CRC-32 of the preceding characters', () => {
  assert.ok(isApiKey(KNOWN, 'production'))
})

test('no two keys are alike', () => {
  const keys = Array.from({ length: 1000 }, () => createKeyText('production'))
  assert.equal(new Set(keys).size, keys.length)
  assert.equal(new Set(keys.map((key) => key.slice(9, 49))).size, keys.length)
})

test('a key with any one character changed is none', () => {
  const key = createKeyText('production')
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0123456789ABCxyz_-'), (at, char) => {
      const mistyped = key.slice(0, at) + char + key.slice(at + 1)
      assert.equal(isApiKey(mistyped, 'production'), mistyped === key)
    }),
  )
})

test('no other text is a key', () => {
  const key = createKeyText('production')
  for (const text of ['', 'shl_live_', ` ${key}`, `${key} `, `${key}\n`, `${key}0`, key.slice(1), key.slice(0, -1)]) {
    assert.ok(!isApiKey(text, 'production'), JSON.stringify(text))
  }
  fc.assert(fc.property(fc.string(), (text) => !isApiKey(text, 'production')))
})

test('what is stored is the SHA-256 of the key', () => {
  assert.deepEqual(hashApiKey(KNOWN), createHash('sha256').update(KNOWN).digest())
})

/** The definition again, bit by bit, so that a change of the CRC or of the alphabet shows. */
function knownKey(): string {
  const body = `shl_live_${'0'.repeat(40)}`
  let crc = 0xffffffff
  for (const byte of Buffer.from(body)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
  let rest = (crc ^ 0xffffffff) >>> 0
  let text = ''
  for (let place = 0; place < 6; place += 1, rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return body + text
}
