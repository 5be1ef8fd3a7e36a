import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { blobSource, hashSource } from '@shiplock/sdk'
import fc from 'fast-check'
import { Sha256 } from '../src/files/sha256.ts'

/** From NIST: FIPS 180-2, appendix B, and the Secure Hash Algorithm Validation System. */
const VECTORS: [name: string, message: string, digest: string][] = [
  ['nothing', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['one block', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'two blocks',
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  [
    '896 bits',
    'abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu',
    'cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1',
  ],
  ['a million times a', 'a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
]

for (const [name, message, digest] of VECTORS) {
  test(`the vector of NIST: ${name}`, () => {
    const hash = new Sha256()
    hash.update(new TextEncoder().encode(message))
    assert.equal(hash.hex(), digest)
  })
}

test('every length up to five blocks has the digest of node:crypto', () => {
  for (let length = 0; length <= 320; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255)
    const hash = new Sha256()
    hash.update(bytes)
    assert.equal(hash.hex(), createHash('sha256').update(bytes).digest('hex'), `${length} bytes`)
  }
})

test('the division into pieces has no effect', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (pieces) => {
      const [own, native] = [new Sha256(), createHash('sha256')]
      for (const piece of pieces) {
        own.update(piece)
        native.update(piece)
      }
      assert.equal(own.hex(), native.digest('hex'))
    }),
  )
})

test('the length of a message of more than 2^32 bits is right', () => {
  const [own, native] = [new Sha256(), createHash('sha256')]
  const piece = new Uint8Array(32 * 1024 * 1024 + 1)
  for (let i = 0; i < 17; i++) {
    own.update(piece)
    native.update(piece)
  }
  assert.equal(own.hex(), native.digest('hex'))
})

test('hashSource returns size and digest, and reports what it has read', async () => {
  const read: number[] = []
  const source = blobSource(new Blob(['abc']), 'a.txt')
  const hashed = await hashSource(source, { onProgress: (bytes) => read.push(bytes) })
  assert.deepEqual(hashed, { size: 3, sha256: VECTORS[1]?.[2] })
  assert.deepEqual(read, [0, 3])
})

test('a Blob of many pieces has the digest of its bytes, also on a platform without BYOB readers', async () => {
  const bytes = randomBytes(5 * 1024 * 1024 + 7)
  const expected = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  for (const blob of [new Blob([bytes]), new PlainBlob([bytes])])
    assert.deepEqual(await hashSource(blobSource(blob, 'a.bin')), expected)
})

/** A Blob of a platform whose streams read only into memory of their own. */
class PlainBlob extends Blob {
  override stream() {
    const iterator = super.stream()[Symbol.asyncIterator]()
    return ReadableStream.from({ [Symbol.asyncIterator]: () => iterator })
  }
}
