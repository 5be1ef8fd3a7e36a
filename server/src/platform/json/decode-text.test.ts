import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText } from './decode-text.ts'

const TEXT = '{"a":"ü € 𝄞"}'

async function decoded(bytes: Uint8Array, pieceBytes: number): Promise<string> {
  async function* source() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const pieces: Buffer[] = []
  for await (const piece of decodeText(source())) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const littleEndian = Buffer.from(`\ufeff${TEXT}`, 'utf16le')
const encodings = {
  'UTF-8': Buffer.from(TEXT),
  'UTF-8 with a byte order mark': Buffer.from(`\ufeff${TEXT}`),
  'UTF-16, little endian': littleEndian,
  'UTF-16, big endian': Buffer.from(littleEndian).swap16(),
}

for (const [name, bytes] of Object.entries(encodings)) {
  test(`${name} is read in pieces of any size`, async () => {
    for (const pieceBytes of [1, 2, 3, 5, 1000]) assert.equal(await decoded(bytes, pieceBytes), TEXT)
  })
}

test('files shorter than a byte order mark are read', async () => {
  assert.equal(await decoded(Buffer.from(''), 1), '')
  assert.equal(await decoded(Buffer.from('1'), 1), '1')
  assert.equal(await decoded(Buffer.from([0xff, 0xfe]), 1), '')
})
