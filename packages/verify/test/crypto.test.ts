import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Bytes, concat, fromBase64, fromHex, toHex } from '../src/bytes.ts'
import * as browser from '../src/crypto/browser.ts'
import type { Crypto, VerifySignature } from '../src/crypto/crypto.ts'
import * as node from '../src/crypto/node.ts'

/** The WebCrypto of Node.js stands for that of browsers. */
const PLATFORMS: Crypto[] = [node, browser]
const MESSAGE = Uint8Array.of(1, 2, 3)

const bytesOf = (buffer: Buffer): Bytes => new Uint8Array(buffer)
const spkiOf = (key: KeyObject) => bytesOf(key.export({ type: 'spki', format: 'der' }))

test('both platforms hash parts as one text', async () => {
  const parts = [Uint8Array.of(0x61), new Uint8Array(), Uint8Array.of(0x62, 0x63)]
  for (const { sha256 } of PLATFORMS)
    assert.equal(toHex(await sha256(...parts)), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

/** What both platforms say, which is the same. */
async function verified(keys: readonly VerifySignature[], signed: Bytes, signature: Bytes): Promise<boolean> {
  const [one, other] = await Promise.all(keys.map((verify) => verify(signed, signature)))
  assert.equal(one, other, toHex(signature))
  return one === true
}

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function readP256Keys(spki: Bytes): Promise<VerifySignature[]> {
  return Promise.all(PLATFORMS.map(async ({ readP256Key }) => (await readP256Key(spki)) ?? assert.fail('null')))
}

test('both platforms accept the signatures of a P-256 key', async () => {
  const keys = await readP256Keys(spkiOf(p256.publicKey))
  // Numbers with a leading zero, or shorter than 32 bytes, occur once in a few tries.
  for (let tries = 0; tries < 300; tries++) {
    const message = Uint8Array.of(tries % 256, tries >> 8)
    const signature = bytesOf(sign('sha256', message, p256.privateKey))
    assert.ok(await verified(keys, message, signature))
    assert.ok(!(await verified(keys, MESSAGE, signature)))
  }
})

test('both platforms refuse a changed signature, in whatever form', async () => {
  const keys = await readP256Keys(spkiOf(p256.publicKey))
  const signature = bytesOf(sign('sha256', MESSAGE, p256.privateKey))
  const twoNumbers = (r: Bytes, s: Bytes) =>
    concat(Uint8Array.of(0x30, r.length + s.length + 4, 0x02, r.length), r, concat(Uint8Array.of(0x02, s.length), s))
  const length = signature[3] as number
  const r = signature.slice(4, 4 + length)
  const s = signature.slice(6 + length)
  assert.ok(await verified(keys, MESSAGE, twoNumbers(r, s)))
  const zero = Uint8Array.of(0)
  const others = [
    ...[new Uint8Array(), zero, fromHex('3000'), fromHex('3006020100020100'), fromHex('30060200020000')],
    ...[twoNumbers(concat(zero, r), s), twoNumbers(r, concat(zero, s)), twoNumbers(s, r), twoNumbers(r, r)],
    ...[concat(signature, zero), signature.slice(0, -1), concat(r, s)],
  ]
  for (const other of others) assert.ok(!(await verified(keys, MESSAGE, other)), toHex(other))
  await fc.assert(
    fc.asyncProperty(fc.nat(signature.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      const changed = signature.slice()
      changed[at] = (changed[at] as number) ^ mask
      assert.ok(!(await verified(keys, MESSAGE, changed)))
    }),
  )
})

test('both platforms read keys on the curve P-256 only', async () => {
  const others = [
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ]
  const offCurve = spkiOf(p256.publicKey)
  offCurve.fill(1, -64)
  for (const { readP256Key } of PLATFORMS) {
    for (const { publicKey } of others) assert.equal(await readP256Key(spkiOf(publicKey)), null)
    await assert.rejects(readP256Key(offCurve))
  }
})

test('both platforms verify the signatures of an Ed25519 key', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = spkiOf(publicKey).slice(-32)
  const keys = PLATFORMS.map(({ readEd25519Key }) => readEd25519Key(raw))
  const signature = bytesOf(sign(null, MESSAGE, privateKey))
  assert.ok(await verified(keys, MESSAGE, signature))
  assert.ok(!(await verified(keys, Uint8Array.of(1), signature)))
  assert.ok(!(await verified(keys, MESSAGE, signature.slice(1))))
})

test('base64 is read in the only form that encodes its bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.deepEqual(fromBase64(Buffer.from(bytes).toString('base64')), new Uint8Array(bytes))
    }),
  )
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('A', 'B', 'Q', '/', '+', '=', '-', '_', ' ', '\n'), maxLength: 9 }),
      (text) => {
        const isOnly = Buffer.from(text, 'base64').toString('base64') === text
        assert.equal(fromBase64(text) !== null, isOnly)
      },
    ),
    { numRuns: 3000 },
  )
})
