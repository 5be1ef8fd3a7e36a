import { type Bytes, concat, sha256 } from './bytes.ts'

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** The hash of an entry of a log (RFC 6962 §2.1). */
export function hashLeaf(entry: Bytes): Promise<Bytes> {
  return sha256(LEAF, entry)
}

type Leaf = { hash: Bytes; index: number; treeSize: number }

/**
 * Computes the root from a leaf and its inclusion proof (RFC 9162 §2.1.3.2). Null if the proof has
 * the wrong length, or the tree has no such leaf.
 */
export async function rootOfInclusion(leaf: Leaf, proof: readonly Bytes[]): Promise<Bytes | null> {
  if (leaf.index >= leaf.treeSize) return null
  let [node, last, hash] = [leaf.index, leaf.treeSize - 1, leaf.hash]
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

function hashNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(concat(NODE, left, right))
}

/** Sizes can exceed 32 bits, which shifts would cut off. */
function half(count: number): number {
  return Math.floor(count / 2)
}
