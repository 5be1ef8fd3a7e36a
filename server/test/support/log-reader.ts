import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { LogProof } from '../../src/provenance/log/read-log-proof.ts'

// What a reader of the log does, from the standards alone.

export type Checkpoint = { origin: string; size: number; root: Buffer }

/** Opens a checkpoint with a verifier key (c2sp.org/signed-note, c2sp.org/tlog-checkpoint). */
export function openCheckpoint(note: string, verifierKey: string): Checkpoint {
  const [, name, id, encodedKey = ''] = /^([^+ ]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? []
  const [, text = '', signer, encoded = ''] = /^((?:.+\n)+)\n— ([^ ]+) (.+)\n$/.exec(note) ?? []
  const signature = Buffer.from(encoded, 'base64')
  const [type, ...key] = Buffer.from(encodedKey, 'base64')
  assert.deepEqual([signer, signature.subarray(0, 4).toString('hex'), type], [name, id, 1])
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') }
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(text), publicKey, signature.subarray(4)), 'the signature is wrong')
  const [origin = '', size = '', root = ''] = text.split('\n')
  assert.match(size, /^(?:0|[1-9]\d*)$/)
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') }
}

/** Whether the proof shows that its entry is in the tree of the checkpoint (RFC 9162 §2.1.3.2). */
export function includes({ size, root }: Checkpoint, proof: LogProof): boolean {
  let [fn, sn] = [BigInt(proof.leaf_index), BigInt(size) - 1n]
  let hash = sha256(Buffer.of(0), Buffer.from(proof.entry))
  if (fn > sn) return false
  for (const step of proof.inclusion_proof.map((encoded) => Buffer.from(encoded, 'base64'))) {
    if (sn === 0n) return false
    if (fn % 2n === 1n || fn === sn) {
      hash = sha256(Buffer.of(1), step, hash)
      while (fn % 2n === 0n && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n]
    } else hash = sha256(Buffer.of(1), hash, step)
    ;[fn, sn] = [fn >> 1n, sn >> 1n]
  }
  return sn === 0n && hash.equals(root)
}

/** Whether the proof shows that `after` extends `before` (RFC 9162 §2.1.4.2). */
export function extendsLog(before: Checkpoint, after: Checkpoint, encoded: readonly string[]): boolean {
  const proof = encoded.map((step): Buffer => Buffer.from(step, 'base64'))
  if (before.size === 0) return proof.length === 0
  if (before.size === after.size) return proof.length === 0 && before.root.equals(after.root)
  let [fn, sn] = [BigInt(before.size) - 1n, BigInt(after.size) - 1n]
  if ((fn & (fn + 1n)) === 0n) proof.unshift(before.root)
  while (fn % 2n === 1n) [fn, sn] = [fn >> 1n, sn >> 1n]
  let old = proof.shift() ?? Buffer.alloc(0)
  let extended = old
  for (const step of proof) {
    if (sn === 0n) return false
    if (fn % 2n === 1n || fn === sn) {
      old = sha256(Buffer.of(1), step, old)
      extended = sha256(Buffer.of(1), step, extended)
      while (fn % 2n === 0n && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n]
    } else extended = sha256(Buffer.of(1), extended, step)
    ;[fn, sn] = [fn >> 1n, sn >> 1n]
  }
  return sn === 0n && old.equals(before.root) && extended.equals(after.root)
}

export function sha256(...parts: Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}
