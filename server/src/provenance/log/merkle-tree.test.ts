import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  computeConsistencyRanges,
  computeInclusionRanges,
  EMPTY_ROOT,
  hashLeaf,
  hashOfSubtrees,
  hashTree,
  type Range,
  splitRange,
} from './merkle-tree.ts'

// RFC 6962 §2.1 word for word, as the reference. Values of subtrees are kept, because they repeat.

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

class Reference {
  readonly #leaves: Buffer[]
  readonly #known = new Map<string, Buffer>()

  constructor(leaves: Buffer[]) {
    this.#leaves = leaves
  }

  /** MTH(D[from:to]). */
  root(from: number, to: number): Buffer {
    const known = this.#known.get(`${from} ${to}`)
    if (known) return known
    const computed = this.#compute(from, to)
    this.#known.set(`${from} ${to}`, computed)
    return computed
  }

  #compute(from: number, to: number): Buffer {
    const count = to - from
    if (count === 0) return sha256()
    if (count === 1) return sha256(Buffer.of(0), this.#leaves[from] as Buffer)
    const k = computeSplit(count)
    return sha256(Buffer.of(1), this.root(from, from + k), this.root(from + k, to))
  }

  /** PATH(m, D[from:to]). */
  path(m: number, from: number, to: number): Buffer[] {
    if (to - from === 1) return []
    const k = computeSplit(to - from)
    return m < k
      ? [...this.path(m, from, from + k), this.root(from + k, to)]
      : [...this.path(m - k, from + k, to), this.root(from, from + k)]
  }

  /** SUBPROOF(m, D[from:to], b). */
  subproof(m: number, [from, to]: [number, number], b: boolean): Buffer[] {
    const n = to - from
    if (m === n) return b ? [] : [this.root(from, to)]
    const k = computeSplit(n)
    return m <= k
      ? [...this.subproof(m, [from, from + k], b), this.root(from + k, to)]
      : [...this.subproof(m - k, [from + k, to], false), this.root(from, from + k)]
  }
}

/** The largest power of two smaller than n. */
function computeSplit(n: number): number {
  let k = 1
  while (2 * k < n) k *= 2
  return k
}

const SMALL_MAX = 300
const entries = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`entry ${at}`))
const reference = new Reference(entries)
const leaves = entries.map(hashLeaf)

const known = new Map<string, Buffer>()

/** The hash of a range from leaf hashes, through complete subtrees. */
function computeHash(range: Range): Buffer {
  const name = `${range.start} ${range.end}`
  const computed =
    known.get(name) ??
    hashOfSubtrees(
      splitRange(range).map(({ height, index }) =>
        hashTree(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height)),
      ),
    )
  known.set(name, computed)
  return computed
}

test('the root of every tree of up to 300 leaves', () => {
  for (let size = 0; size <= SMALL_MAX; size += 1) {
    const root = reference.root(0, size)
    assert.deepEqual(hashTree(leaves.slice(0, size)), root, `size ${size}`)
    assert.deepEqual(computeHash({ start: 0, end: size }), root, `size ${size}`)
  }
})

test('the root of the empty tree is the hash of nothing', () => {
  assert.equal(EMPTY_ROOT.toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

test('the inclusion proof of every leaf in every tree of up to 300 leaves', () => {
  for (let size = 1; size <= SMALL_MAX; size += 1) {
    for (let leaf = 0; leaf < size; leaf += 1) assertInclusion(leaf, size)
  }
})

test('the consistency proof between all trees of up to 300 leaves', () => {
  for (let size = 1; size <= SMALL_MAX; size += 1) {
    for (let oldSize = 1; oldSize <= size; oldSize += 1) assertConsistency(oldSize, size)
  }
})

test('proofs of random larger trees', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: entries.length }), fc.nat(), fc.nat(), (size, leaf, old) => {
      assertInclusion(leaf % size, size)
      assertConsistency(1 + (old % size), size)
    }),
    { numRuns: 60 },
  )
})

test('every tree is consistent with the empty one, and with itself', () => {
  assert.deepEqual(computeConsistencyRanges(0, 300), [])
  assert.deepEqual(computeConsistencyRanges(300, 300), [])
  assert.deepEqual(computeConsistencyRanges(0, 0), [])
})

test('sizes near 2 ** 53 are split exactly', () => {
  const size = 2 ** 52 - 1
  assert.deepEqual(
    splitRange({ start: 0, end: size }).map(({ height }) => height),
    Array.from({ length: 52 }, (_, at) => 51 - at),
  )
  assert.deepEqual(computeInclusionRanges(size - 1, { start: 0, end: size }).at(-1), { start: 0, end: 2 ** 51 })
})

function assertInclusion(leaf: number, size: number): void {
  const proof = computeInclusionRanges(leaf, { start: 0, end: size }).map(computeHash)
  assert.deepEqual(proof, reference.path(leaf, 0, size), `leaf ${leaf} of ${size}`)
}

function assertConsistency(oldSize: number, size: number): void {
  const proof = computeConsistencyRanges(oldSize, size).map(computeHash)
  assert.deepEqual(proof, reference.subproof(oldSize, [0, size], true), `${oldSize} to ${size}`)
}
