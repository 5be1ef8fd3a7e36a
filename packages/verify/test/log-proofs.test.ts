import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bytes } from '../src/bytes.ts'
import { hashLeaf, isConsistent, rootOfInclusion } from '../src/merkle-proof.ts'
import { consistencyProof, inclusionProof, TestLog, treeHash } from './support/log.ts'
import { changeStatement, dataOf, makeKey, sha256, signStatement } from './support/statements.ts'
import { failuresOf, verifyWith } from './support/verify.ts'

const bytesOf = (buffer: Buffer | string): Bytes => new Uint8Array(Buffer.from(buffer as string))
const rootOf = (entries: string[]) => bytesOf(treeHash(entries))
const ENTRIES = Array.from({ length: 33 }, (_, index) => `entry ${index}`)

test('an inclusion proof of every leaf of every tree leads to its root, and no other proof does', async () => {
  for (let size = 1; size <= ENTRIES.length; size++) {
    const entries = ENTRIES.slice(0, size)
    const root = rootOf(entries)
    for (let index = 0; index < size; index++) {
      const leaf = await hashLeaf(bytesOf(entries[index] as string))
      const proof = inclusionProof(entries, index).map(bytesOf)
      assert.deepEqual(await rootOfInclusion(leaf, index, size, proof), root)
      const others = [
        await rootOfInclusion(leaf, index, size, [...proof, root]),
        await rootOfInclusion(leaf, size, size, proof),
      ]
      if (size > 1) {
        others.push(await rootOfInclusion(leaf, (index + 1) % size, size, proof))
        others.push(await rootOfInclusion(leaf, index, size, proof.slice(1)))
        others.push(await rootOfInclusion(await hashLeaf(bytesOf('other')), index, size, proof))
      }
      for (const other of others) assert.notDeepEqual(other, root, `leaf ${index} of ${size}`)
    }
  }
})

test('a consistency proof of every two sizes is accepted, and no other proof is', async () => {
  for (let size = 2; size <= ENTRIES.length; size++) {
    const second = { size, root: rootOf(ENTRIES.slice(0, size)) }
    for (let first = 1; first < size; first++) {
      const old = { size: first, root: rootOf(ENTRIES.slice(0, first)) }
      const proof = consistencyProof(ENTRIES.slice(0, size), first).map(bytesOf)
      assert.ok(await isConsistent(old, second, proof), `${first} to ${size}`)
      const rewritten = { size: first, root: rootOf(['other', ...ENTRIES.slice(1, first)]) }
      assert.ok(!(await isConsistent(rewritten, second, proof)), `${first} to ${size}, rewritten`)
      assert.ok(!(await isConsistent(old, second, [...proof, second.root])), `${first} to ${size}, too long`)
      assert.ok(!(await isConsistent(old, second, proof.slice(0, -1))), `${first} to ${size}, too short`)
      assert.ok(!(await isConsistent(old, { ...second, root: old.root }, proof)), `${first} to ${size}, another root`)
    }
  }
})

const key = makeKey()
const envelope = signStatement(key, changeStatement())
const digest = sha256(Buffer.from(envelope.payload, 'base64'))

/** A log with the statement as its last entry. */
function logOf(size: number, other = 'entry'): TestLog {
  const log = new TestLog()
  for (let index = 0; index < size - 1; index++) log.add('change', sha256(`${other} ${index}`))
  log.add('statement', digest)
  return log
}

test('a kept checkpoint of the same size has the same root', async () => {
  const log = logOf(9)
  const data = dataOf(envelope, log.proof(8))
  assert.equal((await verifyWith({ key, log, checkpoint: log.checkpoint() }, data)).verified, true)
})

test('an empty kept checkpoint needs no proof', async () => {
  const log = logOf(9)
  const data = dataOf(envelope, log.proof(8))
  assert.equal((await verifyWith({ key, log, checkpoint: log.checkpoint(0) }, data)).verified, true)
})

test('a missing consistency proof is named with the request that returns it', async () => {
  const log = logOf(9)
  const failures = failuresOf(
    await verifyWith({ key, log, checkpoint: log.checkpoint(4) }, dataOf(envelope, log.proof(8))),
  )
  assert.match(failures.join(), /^log consistency: .*\?bundle=true&checkpoint_size=4/)
})

test('a kept checkpoint that is larger is refused', async () => {
  const log = logOf(9)
  const data = dataOf(envelope, log.proof(8))
  log.add('change', sha256('later'))
  const failures = failuresOf(await verifyWith({ key, log, checkpoint: log.checkpoint() }, data))
  assert.match(failures.join(), /^log consistency: the kept checkpoint has 10 entries, and this one only 9/)
})

test('a rewritten log is refused by a kept checkpoint of any size', async () => {
  for (let size = 1; size <= 9; size++) {
    const log = logOf(9)
    const checkpoint = log.checkpoint(size)
    log.entries[0] = 'shiplock.dev/log-entry/v1\nchange\nrewritten\n'
    const verification = await verifyWith({ key, log, checkpoint }, dataOf(envelope, log.proof(8, size)))
    assert.match(failuresOf(verification).join(), /^log consistency: the log was rewritten/, `size ${size}`)
  }
})

test('a checkpoint of another key or another log is refused', async () => {
  const log = logOf(3)
  const data = dataOf(envelope, log.proof(2))
  assert.match(
    failuresOf(await verifyWith({ key, log: logOf(3) }, data)).join(),
    /^log checkpoint: the key .* has not signed/,
  )
  const other = new TestLog('other.example.com/log')
  assert.match(failuresOf(await verifyWith({ key, log: other }, data)).join(), /^log checkpoint: it is of the log/)
})

test('a proof of another statement is refused', async () => {
  const log = logOf(3)
  const failures = failuresOf(await verifyWith({ key, log }, dataOf(envelope, log.proof(1))))
  assert.match(failures.join(), /^log entry: the entry of the log is not the entry of this statement/)
})
