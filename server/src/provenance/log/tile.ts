import { createLogError } from '../../errors/provenance.ts'
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

  /** `count` hashes of a tile. Throws 503 `unavailable` if the tile does not have them. */
  hashesOf(name: TileName, first: number, count: number): Buffer[] {
    const hashes = this.#hashes.get(formatTileKey(name))?.slice(first, first + count) ?? []
    if (hashes.length === count) return hashes
    throw createLogError(`Tile ${formatTileKey(name)} of the transparency log does not have ${first + count} hashes.`)
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

/** A tile of hashes, or a bundle of entries, which is named like a tile of level 0. */
export type TileRequest = TileName & { kind: 'hashes' | 'entries'; width: number }

/** An index below 10 ** 15, which JavaScript's numbers can express. */
const PATH = /^(entries|\d{1,2})\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/
const LEVEL_MAX = 63

/**
 * Reads the path of a tile or entry bundle: `<L>/<N>[.p/<W>]` (c2sp.org/tlog-tiles, "Merkle Tree").
 * Returns null for everything that is not exactly the path of one.
 */
export function parseTilePath(path: string): TileRequest | null {
  const [, name = '', digits = '', partial] = PATH.exec(path) ?? []
  const level = name === 'entries' ? 0 : Number(name)
  const index = Number(digits.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const request: TileRequest = { kind: name === 'entries' ? 'entries' : 'hashes', level, index, width }
  const isOne = level <= LEVEL_MAX && (partial === undefined || width < TILE_WIDTH)
  return isOne && formatTilePath(request) === path ? request : null
}

/** The path of a tile or entry bundle. */
export function formatTilePath({ kind, level, index, width }: TileRequest): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const number = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return `${kind === 'entries' ? kind : level}/${number}${width < TILE_WIDTH ? `.p/${width}` : ''}`
}

/** A digest that is published in the log: a link of a chain, or the payload of a statement. */
export type LogEntry = { kind: 'change' | 'amendment' | 'statement'; sha256: Buffer }

/** The text of an entry in the log. It is ASCII. */
export function formatEntry({ kind, sha256 }: LogEntry): string {
  return `shiplock.dev/log-entry/v1\n${kind}\n${sha256.toString('hex')}\n`
}

/**
 * Entries as a bundle: each one follows its length in 16 bits (c2sp.org/tlog-tiles, "Log entries").
 */
export function encodeEntries(entries: readonly LogEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const text = Buffer.from(formatEntry(entry))
    const length = Buffer.alloc(2)
    length.writeUInt16BE(text.length)
    return [length, text]
  })
  return Buffer.concat(parts)
}
