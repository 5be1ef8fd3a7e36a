import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { getLogOrigin, LogKey } from './log-key.ts'
import { EMPTY_ROOT } from './merkle-tree.ts'

/** The private key of RFC 8032 §7.1, test 1. */
const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const PUBLIC = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
const key = new LogKey('shiplock.example/log', PEM)

test('a checkpoint is a note with the origin, the size and the root, signed by the key of that name', () => {
  const note = key.signCheckpoint(0, EMPTY_ROOT)
  const [text = '', signatures = ''] = note.split('\n\n')
  assert.equal(text, 'shiplock.example/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
  const [, encoded = ''] = /^— shiplock\.example\/log ([A-Za-z0-9+/]+=*)\n$/.exec(signatures) ?? []
  const signature = Buffer.from(encoded, 'base64')
  const [, name, id, typed = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(key.verifierKey) ?? []
  assert.equal(name, 'shiplock.example/log')
  assert.equal(id, signature.subarray(0, 4).toString('hex'))
  const publicKey = Buffer.from(typed, 'base64').subarray(1)
  assert.deepEqual(publicKey, PUBLIC)
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') }
  const verifier = createPublicKey({ key: jwk, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(`${text}\n`), verifier, signature.subarray(4)))
})

for (const [baseUrl, origin] of [
  ['https://shiplock.example', 'shiplock.example/log'],
  ['http://127.0.0.1:8420', '127.0.0.1:8420/log'],
  ['https://shiplock.example/ship+lock', 'shiplock.example/ship%2Block/log'],
] as const) {
  test(`the origin of the log at ${baseUrl}`, () => assert.equal(getLogOrigin(baseUrl), origin))
}
