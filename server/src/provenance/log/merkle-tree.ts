import { hash } from 'node:crypto'

/** Merkle trees of RFC 6962 §2.1 with SHA-256. */
export const HASH_BYTES = 32

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

const sha256 = (...parts: Buffer[]) => hash('sha256', Buffer.concat(parts), 'buffer')

/** The hash of a tree without leaves. */
export const EMPTY_ROOT = sha256()

export function hashLeaf(entry: string | Buffer): Buffer {
  return sha256(LEAF, Buffer.from(entry))
}

export function hashNode(left: Buffer, right: Buffer): Buffer {
  return sha256(NODE, left, right)
}

/** Leaves from `start` up to, and without, `end`. */
export type Range = { start: number; end: number }

/** A complete subtree of 2 ** `height` leaves. It starts at leaf `index` * 2 ** `height`. */
export type Subtree = { height: number; index: number }

/**
 * The complete subtrees of a range, from left to right, the largest first. `start` is a multiple of
 * the size of the first one.
 */
export function splitRange({ start, end }: Range): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = start; at < end; ) {
    const height = floorLog2(end - at)
    subtrees.push({ height, index: at / 2 ** height })
    at += 2 ** height
  }
  return subtrees
}

/** The hash of a range from the hashes of its complete subtrees. */
export function hashOfSubtrees(hashes: readonly Buffer[]): Buffer {
  return hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => hashNode(left, right))
}

/** The hash of a tree from its leaf hashes, or from the hashes of equally large subtrees. */
export function hashTree(hashes: readonly Buffer[]): Buffer {
  if (hashes.length < 2) return hashes[0] ?? EMPTY_ROOT
  const split = computeSplit(hashes.length)
  return hashNode(hashTree(hashes.slice(0, split)), hashTree(hashes.slice(split)))
}

/** The ranges whose hashes are the inclusion proof of a leaf (RFC 6962 §2.1.1), in their order. */
export function computeInclusionRanges(leaf: number, { start, end }: Range): Range[] {
  if (end - start <= 1) return []
  const middle = start + computeSplit(end - start)
  return leaf < middle
    ? [...computeInclusionRanges(leaf, { start, end: middle }), { start: middle, end }]
    : [...computeInclusionRanges(leaf, { start: middle, end }), { start, end: middle }]
}

/**
 * The ranges whose hashes are the consistency proof between the trees of `oldSize` and `size`
 * leaves (RFC 6962 §2.1.2), in their order. Every tree is consistent with the empty one.
 */
export function computeConsistencyRanges(oldSize: number, size: number): Range[] {
  return oldSize === 0 ? [] : subproof(oldSize, { start: 0, end: size }, true)
}

/** `isOldTree`: the old tree starts where the range starts, so the verifier knows its hash. */
function subproof(oldSize: number, { start, end }: Range, isOldTree: boolean): Range[] {
  if (oldSize === end) return isOldTree ? [] : [{ start, end }]
  const middle = start + computeSplit(end - start)
  return oldSize <= middle
    ? [...subproof(oldSize, { start, end: middle }, isOldTree), { start: middle, end }]
    : [...subproof(oldSize, { start: middle, end }, false), { start, end: middle }]
}

/** The largest power of two that is less than `count`, which is at least 2. */
function computeSplit(count: number): number {
  return 2 ** floorLog2(count - 1)
}

/** Exact up to 2 ** 53, where `Math.log2` is not. */
function floorLog2(count: number): number {
  let height = 0
  while (2 ** (height + 1) <= count) height += 1
  return height
}
