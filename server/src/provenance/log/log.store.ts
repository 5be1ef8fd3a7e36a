import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { HASH_BYTES } from './merkle-tree.ts'
import type { Tile, TileName } from './tile.ts'

/** The origin of the log and its sealed private key (PKCS #8, PEM). */
type StoredKey = { origin: string; sealed_private_key: string }

/** Waits until no other transaction extends or creates the log, and keeps others from it. */
export async function lockLog(tx: Tx): Promise<void> {
  await lockName(tx, 'provenance log')
}

export async function findLogKey(db: Db): Promise<StoredKey | null> {
  const [row] = await db<StoredKey[]>`
    select origin, sealed_private_key
    from log_key`
  return row ?? null
}

export async function insertLogKey(tx: Tx, key: StoredKey, createdAt: Date): Promise<void> {
  await tx`
    insert into log_key (origin, sealed_private_key, created_at)
    values (${key.origin}, ${key.sealed_private_key}, ${createdAt})`
}

/** A checkpoint and its signed note. */
export type StoredCheckpoint = { size: number; root_hash: Buffer; note: string }

/** Null until the log exists. */
export async function findNewestCheckpoint(db: Db): Promise<StoredCheckpoint | null> {
  const [row] = await db<StoredCheckpoint[]>`
    select size, root_hash, note
    from log_checkpoints
    order by size desc
    limit 1`
  return row ?? null
}

/** The checkpoints of more than `after` and at most `until` entries, the smallest first. */
export async function listCheckpoints(db: Db, after: number, until: number): Promise<StoredCheckpoint[]> {
  return db<StoredCheckpoint[]>`
    select size, root_hash, note
    from log_checkpoints
    where size > ${after}
      and size <= ${until}
    order by size
    limit ${until - after}`
}

export async function insertCheckpoint(tx: Tx, checkpoint: StoredCheckpoint, publishedAt: Date): Promise<void> {
  await tx`
    insert into log_checkpoints (size, root_hash, note, published_at)
    values (${checkpoint.size}, ${checkpoint.root_hash}, ${checkpoint.note}, ${publishedAt})`
}

/** The stored tiles with these names. Those that are not stored are left out. */
export async function listTiles(db: Db, names: readonly TileName[]): Promise<Tile[]> {
  if (names.length === 0) return []
  return db<Tile[]>`
    select tile.level, tile.index, tile.hashes
    from unnest(${names.map(({ level }) => level)}::smallint[], ${names.map(({ index }) => index)}::bigint[])
      as wanted (level, index)
    join log_tiles tile using (level, index)`
}

/** The first `width` hashes of a tile; null while the tile has fewer. */
export async function findTileHashes(db: Db, { level, index }: TileName, width: number): Promise<Buffer | null> {
  const bytes = width * HASH_BYTES
  const [row] = await db<{ hashes: Buffer }[]>`
    select substring(hashes from 1 for ${bytes}) as hashes
    from log_tiles
    where level = ${level}
      and index = ${index}
      and length(hashes) >= ${bytes}`
  return row?.hashes ?? null
}

/** Stores new tiles, and replaces those that have grown. */
export async function upsertTiles(tx: Tx, tiles: readonly Tile[]): Promise<void> {
  const hashes = tiles.map((tile) => tile.hashes.toString('hex'))
  await tx`
    insert into log_tiles (level, index, hashes)
    select level, index, decode(hashes, 'hex')
    from unnest(
      ${tiles.map(({ level }) => level)}::smallint[], ${tiles.map(({ index }) => index)}::bigint[], ${hashes}::text[]
    ) as grown (level, index, hashes)
    on conflict (level, index) do update
    set hashes = excluded.hashes`
}
