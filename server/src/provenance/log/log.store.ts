import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { HASH_BYTES } from './merkle-tree.ts'
import { type LogEntry, TILE_WIDTH, type Tile, type TileName } from './tile.ts'

/** The origin of the log and its sealed private key (PKCS #8, PEM). */
export type StoredKey = { origin: string; sealed_private_key: string }

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

const AUTHENTICATED = ['signing_keys', 'statements', 'log_entries', 'log_checkpoints'] as const

/** Whether rows of a version that stored no macs are left. */
export async function hasRowsWithoutMac(db: Db): Promise<boolean> {
  for (const table of AUTHENTICATED) {
    const rows = await db`select from ${db(table)} where mac is null limit 1`
    if (rows.length > 0) return true
  }
  return false
}

/** A checkpoint and its signed note. */
export type StoredCheckpoint = {
  size: number
  root_hash: Buffer
  note: string
  published_at: Date
  /** Null in rows of earlier versions. */
  mac: Buffer | null
}

/** The newest stored checkpoint, and the number of positions that stored entries or tiles have. */
export type LogState = { [Column in keyof StoredCheckpoint]: StoredCheckpoint[Column] | null } & { length: number }

/**
 * SQL: reads everything in one statement. Positions and their checkpoint are stored in one
 * transaction, so they agree unless rows were lost.
 */
function buildLogState(db: Db) {
  return db`
    select newest.size, newest.root_hash, newest.note, newest.published_at, newest.mac, greatest(
      (select max(leaf_index) + 1 from log_entries),
      (
        select index * ${TILE_WIDTH}::bigint + length(hashes) / ${HASH_BYTES}::int
        from log_tiles
        where level = 0
        order by index desc
        limit 1
      ),
      0
    ) as length
    from (values (1)) as log (nth)
    left join (
      select size, root_hash, note, published_at, mac
      from log_checkpoints
      order by size desc
      limit 1
    ) as newest on true`
}

/** The checkpoint is null until the log exists. */
export async function findLogState(db: Db): Promise<LogState> {
  const [row] = await db<[LogState]>`${buildLogState(db)}`
  return row
}

/** Whether a checkpoint is stored. */
export function hasCheckpoint<State extends LogState>(state: State): state is State & StoredCheckpoint {
  return state.size !== null
}

/** Whether the newest checkpoint is still stored: no position is beyond the one that is. */
export function hasNewestCheckpoint<State extends LogState>(state: State): state is State & StoredCheckpoint {
  return hasCheckpoint(state) && state.length <= state.size
}

/** The checkpoints of more than `after` and at most `until` entries, the smallest first. */
export async function listCheckpoints(db: Db, after: number, until: number): Promise<StoredCheckpoint[]> {
  return db<StoredCheckpoint[]>`
    select size, root_hash, note, published_at, mac
    from log_checkpoints
    where size > ${after}
      and size <= ${until}
    order by size
    limit ${until - after}`
}

export async function insertCheckpoint(tx: Tx, checkpoint: StoredCheckpoint): Promise<void> {
  await tx`
    insert into log_checkpoints (size, root_hash, note, published_at, mac)
    values (
      ${checkpoint.size}, ${checkpoint.root_hash}, ${checkpoint.note}, ${checkpoint.published_at}, ${checkpoint.mac}
    )`
}

export async function updateCheckpointMac(
  tx: Tx,
  { size, mac }: Pick<StoredCheckpoint, 'size' | 'mac'>,
): Promise<void> {
  await tx`
    update log_checkpoints
    set mac = ${mac}
    where size = ${size}`
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

/**
 * Adds an entry in the caller's transaction. It gets its position in the log within about a second
 * after the commit. An entry that is already there has no effect. Takes no lock that transactions
 * with other entries wait for.
 */
export async function insertLogEntry(tx: Tx, { kind, sha256 }: LogEntry, mac: Buffer): Promise<void> {
  await insertLogEntries(tx, tx`values (${kind}, ${sha256}::bytea, ${mac}::bytea)`)
}

/**
 * SQL: does the same with the `kind`, the `sha256` and the `mac` of the given rows, in the caller's
 * statement.
 */
export function insertLogEntries(db: Db, rows: ReturnType<Db>) {
  return db`
    insert into log_entries (kind, sha256, mac)
    ${rows}
    on conflict do nothing`
}

/**
 * The order makes PostgreSQL use the index of pending entries whatever its statistics say. `exists`
 * may scan all entries instead.
 */
export async function hasPendingEntries(db: Db): Promise<boolean> {
  const rows = await db`
    select id
    from log_entries
    where leaf_index is null
    order by id
    limit 1`
  return rows.length > 0
}

/** An entry with what authenticates it; the mac is null in rows of earlier versions. */
export type StoredEntry = LogEntry & { mac: Buffer | null }

/** An entry in the log, and its position. */
export type SequencedEntry = StoredEntry & { leaf_index: number }

/**
 * Gives the oldest pending entries consecutive positions from `first` on, and returns them in this
 * order. Entries of transactions that have not been committed are not visible, so they follow
 * later, whatever their ids are.
 */
export async function updateEntryPositions(tx: Tx, first: number, limit: number): Promise<SequencedEntry[]> {
  const numbered = await tx<SequencedEntry[]>`
    with pending as (
      select id, ${first}::bigint + row_number() over (order by id) - 1 as leaf_index
      from (
        select id
        from log_entries
        where leaf_index is null
        order by id
        limit ${limit}
      ) as oldest
    )
    update log_entries entry
    set leaf_index = pending.leaf_index
    from pending
    where entry.id = pending.id
    returning entry.kind, entry.sha256, entry.mac, entry.leaf_index`
  return numbered.toSorted((a, b) => a.leaf_index - b.leaf_index)
}

/** The entries in the log from position `first` on, at most `count`. */
export async function listEntries(db: Db, first: number, count: number): Promise<SequencedEntry[]> {
  return db<SequencedEntry[]>`
    select kind, sha256, mac, leaf_index
    from log_entries
    where leaf_index >= ${first}
      and leaf_index < ${first + count}
    order by leaf_index
    limit ${count}`
}

/** The oldest entries that have no position yet. */
export async function listPendingEntries(db: Db, limit: number): Promise<StoredEntry[]> {
  return db<StoredEntry[]>`
    select kind, sha256, mac
    from log_entries
    where leaf_index is null
    order by id
    limit ${limit}`
}

/** Stores macs of entries. */
export async function updateEntryMacs(tx: Tx, entries: readonly (LogEntry & { mac: Buffer })[]): Promise<void> {
  const [kinds, hashes, macs] = [
    entries.map(({ kind }) => kind),
    entries.map(({ sha256 }) => sha256.toString('hex')),
    entries.map(({ mac }) => mac.toString('hex')),
  ]
  await tx`
    update log_entries entry
    set mac = decode(given.mac, 'hex')
    from unnest(${kinds}::text[], ${hashes}::text[], ${macs}::text[]) as given (kind, sha256, mac)
    where entry.kind = given.kind
      and entry.sha256 = decode(given.sha256, 'hex')`
}

/** Whether an entry is stored, pending or not, whatever its mac is. */
export async function hasLogEntry(db: Db, { kind, sha256 }: LogEntry): Promise<boolean> {
  const rows = await db`
    select
    from log_entries
    where kind = ${kind}
      and sha256 = ${sha256}`
  return rows.length > 0
}

/** `leaf_index` is null while the entry is pending, and `entry_mac` in rows of earlier versions. */
export type FoundEntry = LogState & { leaf_index: number | null; entry_mac: Buffer | null }

/** Reads all in one statement, so that the checkpoint covers an entry that has a position. */
export async function findEntry(db: Db, { kind, sha256 }: LogEntry): Promise<FoundEntry | null> {
  const [row] = await db<FoundEntry[]>`
    select entry.leaf_index, entry.mac as entry_mac, log.size, log.root_hash, log.note, log.published_at, log.mac,
      log.length
    from log_entries entry
    cross join (${buildLogState(db)}) as log
    where entry.kind = ${kind}
      and entry.sha256 = ${sha256}`
  return row ?? null
}
