import { hashOfSubtrees, hashTree, splitRange } from './merkle-tree.ts'
import { computeEdge, TILE_WIDTH, type Tile, type Tiles } from './tile.ts'

/** A partial tile. */
type Edge = { index: number; hashes: Buffer[] }

/**
 * A tree that leaves are appended to. It keeps only the partial tiles at its right edge, from which
 * its hash and all later tiles can be computed.
 */
export class GrowingTree {
  #size: number
  /** By level. */
  readonly #edge: Edge[]

  /** `tiles` has at least the tiles at the right edge of the tree of `size` leaves. */
  constructor(size: number, tiles: Tiles) {
    this.#size = size
    this.#edge = computeEdge(size).map(({ level, index, width }) => ({
      index,
      hashes: tiles.hashesOf({ level, index }, 0, width),
    }))
  }

  get size(): number {
    return this.#size
  }

  /**
   * Appends the hash of a leaf. Returns the tiles that become full by it, the lowest level first.
   */
  append(leaf: Buffer): Tile[] {
    this.#size += 1
    const full: Tile[] = []
    let carried: Buffer | null = leaf
    for (let level = 0; carried !== null; level += 1) {
      this.#edge[level] ??= { index: 0, hashes: [] }
      const edge = this.#edge[level] as Edge
      edge.hashes.push(carried)
      if (edge.hashes.length < TILE_WIDTH) break
      full.push({ level, index: edge.index, hashes: Buffer.concat(edge.hashes) })
      carried = hashTree(edge.hashes)
      this.#edge[level] = { index: edge.index + 1, hashes: [] }
    }
    return full
  }

  /** The tiles that are partial at this size, the lowest level first. */
  partialTiles(): Tile[] {
    return this.#edge.flatMap(({ index, hashes }, level) =>
      hashes.length > 0 ? [{ level, index, hashes: Buffer.concat(hashes) }] : [],
    )
  }

  root(): Buffer {
    return hashOfSubtrees(this.#edge.toReversed().flatMap(({ hashes }) => subtreeHashes(hashes)))
  }
}

/** The hashes of the complete subtrees of a partial tile, from left to right. */
function subtreeHashes(hashes: Buffer[]): Buffer[] {
  return splitRange({ start: 0, end: hashes.length }).map(({ height, index }) => {
    const count = 2 ** height
    return hashTree(hashes.slice(index * count, (index + 1) * count))
  })
}
