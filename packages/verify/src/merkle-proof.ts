import { sha256 } from '#crypto'
import { type Bytes, isEqual } from './bytes.ts'

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** The hash of an entry (RFC 6962 §2.1). */
export function hashLeaf(entry: Bytes): Promise<Bytes> {
  return sha256(LEAF, entry)
}

function hashNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(NODE, left, right)
}

/**
 * Computes the root from a leaf and its inclusion proof (RFC 9162 §2.1.3.2). Returns null if the
 * proof has the wrong length, or the tree has no such leaf.
 */
export async function rootOfInclusion(
  leaf: Bytes,
  index: number,
  size: number,
  proof: readonly Bytes[],
): Promise<Bytes | null> {
  if (index >= size) return null
  let node = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return null
    if (node % 2 === 1 || node === last) {
      hash = await hashNode(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = await hashNode(hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? hash : null
}

/** A tree of a log: its number of leaves, and its root. */
export type Tree = { size: number; root: Bytes }

/**
 * Whether the proof shows that the first tree's leaves are the beginning of the second one's (RFC
 * 9162 §2.1.4.2). The first tree must be smaller, and not empty.
 */
export async function isConsistent(first: Tree, second: Tree, proof: readonly Bytes[]): Promise<boolean> {
  const path = isPowerOfTwo(first.size) ? [first.root, ...proof] : [...proof]
  const start = path.shift()
  if (start === undefined || proof.length === 0) return false
  let [node, last] = [first.size - 1, second.size - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  let [firstHash, secondHash] = [start, start]
  for (const hash of path) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      firstHash = await hashNode(hash, firstHash)
      secondHash = await hashNode(hash, secondHash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      secondHash = await hashNode(secondHash, hash)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && isEqual(firstHash, first.root) && isEqual(secondHash, second.root)
}

/** Sizes can exceed 32 bits, which shifts would cut off. */
function half(count: number): number {
  return Math.floor(count / 2)
}

function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count))
}
