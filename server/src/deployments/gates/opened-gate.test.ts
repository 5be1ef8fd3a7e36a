import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { computePollToken, hashPollToken, isPollToken, verifyPollToken } from './opened-gate.ts'

const KEY = createSecretKey(Buffer.from('k'.repeat(32)))
const GATE = '01890000-0000-7000-8000-000000000000'
const AT = new Date('2026-03-04T05:06:07.890Z')

test('a gate and an issue time always give the same token, and it matches its hash', () => {
  const token = computePollToken(KEY, GATE, AT)
  assert.match(token, /^shl_gate_[0-9A-Za-z]{46}$/)
  assert.equal(token, computePollToken(KEY, GATE, new Date(AT)))
  assert.ok(isPollToken(token))
  assert.ok(verifyPollToken(token, hashPollToken(token)))
})

test('another gate, issue time or key gives another token', () => {
  const others = [
    computePollToken(KEY, GATE.replace('7000', '7001'), AT),
    computePollToken(KEY, GATE, new Date(AT.getTime() + 1)),
    computePollToken(createSecretKey(Buffer.from('l'.repeat(32))), GATE, AT),
  ]
  const token = computePollToken(KEY, GATE, AT)
  assert.equal(new Set([token, ...others]).size, 4)
  for (const other of others) assert.ok(!verifyPollToken(other, hashPollToken(token)))
})

test('a token with one changed character is invalid', () => {
  const token = computePollToken(KEY, GATE, AT)
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...'0123456789ABCxyz_-'), (at, char) => {
      const mistyped = token.slice(0, at) + char + token.slice(at + 1)
      assert.equal(isPollToken(mistyped), mistyped === token)
    }),
  )
})
