import { HASH_BYTES, hashTree, type Subtree } from './merkle-tree.ts'

/** A full tile has 256 hashes, and spans a tree of this height (c2sp.org/tlog-tiles). */
export const TILE_WIDTH = 256
const TILE_HEIGHT = 8

/** The `index`-th tile of a level. Level 0 has the hashes of the leaves. */
export type TileName = { level: number; index: number }

/** A tile, full or partial: its hashes, one after the other. */
export type Tile = TileName & { hashes: Buffer }

/** The tile that a complete subtree is in, and which of its hashes the subtree consists of. */
export function getTile({ height, index }: Subtree): TileName & { first: number; count: number } {
  const count = 2 ** (height % TILE_HEIGHT)
  const at = index * count
  return {
    level: Math.floor(height / TILE_HEIGHT),
    index: Math.floor(at / TILE_WIDTH),
    first: at % TILE_WIDTH,
    count,
  }
}

/**
 * The tiles at the right edge of a tree and their widths, from 0 to 255, one for each level. A tile
 * of width 0 does not exist yet.
 */
export function computeEdge(size: number): (TileName & { width: number })[] {
  const edge: (TileName & { width: number })[] = []
  for (let count = size; count > 0; count = Math.floor(count / TILE_WIDTH)) {
    edge.push({ level: edge.length, index: Math.floor(count / TILE_WIDTH), width: count % TILE_WIDTH })
  }
  return edge
}

/** Tiles by their names. */
export class Tiles {
  readonly #hashes = new Map<string, Buffer[]>()

  constructor(tiles: readonly Tile[]) {
    for (const tile of tiles) this.#hashes.set(formatTileKey(tile), splitHashes(tile.hashes))
  }

  /** `count` hashes of a tile. Throws if the tile does not have them. */
  hashesOf(name: TileName, first: number, count: number): Buffer[] {
    const hashes = this.#hashes.get(formatTileKey(name))?.slice(first, first + count) ?? []
    if (hashes.length === count) return hashes
    throw new Error(`Tile ${formatTileKey(name)} of the transparency log does not have ${first + count} hashes.`)
  }

  /** The hash of a complete subtree. */
  hashOf(subtree: Subtree): Buffer {
    const { first, count, ...name } = getTile(subtree)
    return hashTree(this.hashesOf(name, first, count))
  }
}

function formatTileKey({ level, index }: TileName): string {
  return `${level}/${index}`
}

function splitHashes(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  )
}
