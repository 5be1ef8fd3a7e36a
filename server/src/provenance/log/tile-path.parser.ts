import { TILE_WIDTH, type TileName } from './tile.ts'

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
