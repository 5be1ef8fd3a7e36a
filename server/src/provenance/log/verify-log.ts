import type { KeyObject } from 'node:crypto'
import { hashValues } from '../../platform/crypto/signed-bytes.ts'
import type { Db } from '../../platform/db/sql.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { GrowingTree } from './growing-tree.ts'
import {
  findLogState,
  listCheckpoints,
  listEntries,
  listPendingEntries,
  listTiles,
  type StoredCheckpoint,
  type StoredEntry,
} from './log.store.ts'
import { type LogKey, loadLogKey } from './log-key.ts'
import { filterForgedEntries, hasMacs, isAuthenticCheckpoint } from './log-mac.ts'
import { HASH_BYTES, hashLeaf } from './merkle-tree.ts'
import { formatEntry, formatTilePath, TILE_WIDTH, type Tile, Tiles } from './tile.ts'

/**
 * A contradiction in the stored log. `expected` is the published hash, null if none with a valid
 * signature is stored. `found` is the hash that the stored entries give, null if an entry is
 * missing. Both are lower-case hexadecimal.
 */
export type LogBreak = {
  /**
   * `key`, `checkpoint`, `tile/<L>/<N>` or `tile/entries/<N>`; `<kind>/<sha256>` for an entry that
   * this server has not stored.
   */
  resource: string
  /**
   * The size of the checkpoint, or the position in the level of the tile. On level 0 it is that of
   * the entry, or of the end of the log while it has none.
   */
  index: number
  expected: string | null
  found: string | null
}

type OnProgress = (verified: number, size: number) => void

/** Entries that are read at once. */
const PAGE = 16 * TILE_WIDTH
/** The verification ends early when it has found so many. */
const BREAKS_MAX = 100

/**
 * Computes all tiles and the root of every checkpoint from the stored entries, and compares them
 * with the stored tiles and the signed checkpoints. The newest checkpoint has to cover all
 * positions. Returns the contradictions. Memory does not grow with the log. `stopping` makes it
 * throw.
 */
export async function verifyLog(
  services: Services,
  onProgress?: OnProgress,
  stopping?: AbortSignal,
): Promise<LogBreak[]> {
  // In this order, a log that is created meanwhile is not taken for one that lost a row.
  const earlier = await findLogState(services.sql)
  const key = await loadLogKey(services)
  if (key === null) return earlier.size === null ? [] : [lost('key')]
  const { size, length } = earlier.size === null ? await findLogState(services.sql) : earlier
  if (size === null) return [lost('checkpoint')]
  const { sql, integrityKey } = services
  const walk = new LogWalk(sql, { key, integrityKey, isComplete: await hasMacs(services, sql) })
  await walk.verifyEmpty()
  await walk.verifyUntil(Math.max(size, length), onProgress, stopping)
  await walk.verifyPending()
  return length > size
    ? [...walk.breaks, { ...lost('checkpoint'), index: length, found: walk.rootAt(length) }]
    : walk.breaks
}

/** Verifies the transparency log once a day, and logs an error for each contradiction. */
export const verifyLogDaily = defineScheduledJob<Services>('provenance.verify-log', {
  class: 'bulk',
  schedule: '17 3 * * *',
  run: async (services, _payload, stopping) => {
    const breaks = await verifyLog(services, undefined, stopping)
    for (const found of breaks) services.log.error(found, 'The stored transparency log contradicts itself')
  },
})

function lost(resource: string): LogBreak {
  return { resource, index: 0, expected: null, found: null }
}

/** `isComplete`: every authentic row has a mac. */
type Keys = { key: LogKey; integrityKey: KeyObject; isComplete: boolean }

/** Appends stored entries to a tree, and collects what contradicts it, or was not stored by us. */
export class LogWalk {
  readonly breaks: LogBreak[] = []
  readonly #db: Db
  readonly #keys: Keys
  readonly #tree: GrowingTree
  #entriesEnd = false

  constructor(db: Db, keys: Keys, tree = new GrowingTree(0, new Tiles([]))) {
    this.#db = db
    this.#keys = keys
    this.#tree = tree
  }

  get #isUnfinished(): boolean {
    return !this.#entriesEnd && this.breaks.length < BREAKS_MAX
  }

  /** The root in lower-case hexadecimal, null if the walk has not reached this size. */
  rootAt(size: number): string | null {
    return this.#tree.size === size ? this.#tree.root().toString('hex') : null
  }

  async verifyEmpty(): Promise<void> {
    for (const checkpoint of await listCheckpoints(this.#db, -1, 0)) this.#compareRoot(checkpoint)
  }

  /**
   * The entries up to the size `end`, and the tiles and checkpoints that they complete. The stored
   * partial tiles may have grown in the meantime.
   */
  async verifyUntil(end: number, onProgress: OnProgress = () => {}, stopping?: AbortSignal): Promise<void> {
    while (this.#tree.size < end && this.#isUnfinished) {
      stopping?.throwIfAborted()
      await this.#verifyPage(Math.min(PAGE, end - this.#tree.size))
      onProgress(this.#tree.size, end)
    }
    if (this.#isUnfinished) await this.#compareTiles(this.#tree.partialTiles())
  }

  /** The entries that get a position next. */
  async verifyPending(): Promise<void> {
    this.#authenticate(await listPendingEntries(this.#db, PAGE))
  }

  #authenticate(entries: readonly (StoredEntry & { leaf_index?: number })[]): void {
    const { integrityKey, isComplete } = this.#keys
    for (const { kind, sha256, mac, leaf_index } of filterForgedEntries(integrityKey, entries, isComplete)) {
      const found = hashValues(kind, sha256, mac).toString('hex')
      const resource = `${kind}/${sha256.toString('hex')}`
      this.breaks.push({ resource, index: leaf_index ?? this.#tree.size, expected: null, found })
    }
  }

  async #verifyPage(count: number): Promise<void> {
    const first = this.#tree.size
    const entries = await listEntries(this.#db, first, count)
    this.#authenticate(entries)
    const checkpoints = await listCheckpoints(this.#db, first, first + count)
    const bySize = new Map(checkpoints.map((checkpoint) => [checkpoint.size, checkpoint]))
    const full: Tile[] = []
    for (const entry of entries) {
      if (entry.leaf_index !== this.#tree.size) break
      full.push(...this.#tree.append(hashLeaf(formatEntry(entry))))
      const checkpoint = bySize.get(this.#tree.size)
      if (checkpoint) this.#compareRoot(checkpoint)
    }
    await this.#compareTiles(full)
    if (this.#tree.size < first + count) this.#entryMissing()
  }

  #compareRoot(checkpoint: StoredCheckpoint): void {
    const { size, root_hash, note } = checkpoint
    const { key, integrityKey, isComplete } = this.#keys
    const root = this.#tree.root()
    const isSigned =
      note === key.signCheckpoint(size, root_hash) && isAuthenticCheckpoint(integrityKey, checkpoint, isComplete)
    if (isSigned && root.equals(root_hash)) return
    const expected = isSigned ? root_hash.toString('hex') : null
    this.breaks.push({ resource: 'checkpoint', index: size, expected, found: root.toString('hex') })
  }

  async #compareTiles(computed: Tile[]): Promise<void> {
    const stored = await listTiles(this.#db, computed)
    for (const tile of computed) {
      const found = stored.find(({ level, index }) => level === tile.level && index === tile.index)
      const difference = compareTile(tile, found?.hashes ?? Buffer.alloc(0))
      if (difference) this.breaks.push(difference)
    }
  }

  #entryMissing(): void {
    this.#entriesEnd = true
    const index = this.#tree.size
    const bundle = { kind: 'entries', level: 0, index: Math.floor(index / TILE_WIDTH), width: TILE_WIDTH } as const
    this.breaks.push({ resource: `tile/${formatTilePath(bundle)}`, index, expected: null, found: null })
  }
}

/** The first hash of a computed tile that the stored one does not have. */
function compareTile({ level, index, hashes }: Tile, stored: Buffer): LogBreak | null {
  for (let start = 0; start < hashes.length; start += HASH_BYTES) {
    const found = hashes.subarray(start, start + HASH_BYTES).toString('hex')
    const expected = stored.subarray(start, start + HASH_BYTES).toString('hex') || null
    if (found === expected) continue
    const resource = `tile/${formatTilePath({ kind: 'hashes', level, index, width: TILE_WIDTH })}`
    return { resource, index: index * TILE_WIDTH + start / HASH_BYTES, expected, found }
  }
  return null
}
