import type { Db, Tx } from '../../platform/db/sql.ts'
import type { LogEntry } from './log-entry.ts'

/**
 * Adds an entry in the caller's transaction. It gets its position in the log within about a second
 * after the commit. An entry that is already there has no effect. Takes no lock that transactions
 * with other entries wait for.
 */
export async function insertLogEntry(tx: Tx, { kind, sha256 }: LogEntry): Promise<void> {
  await insertLogEntries(tx, tx`values (${kind}, ${sha256}::bytea)`)
}

/**
 * SQL: does the same with the `kind` and the `sha256` of the given rows, in the caller's statement.
 */
export function insertLogEntries(db: Db, rows: ReturnType<Db>) {
  return db`
    insert into log_entries (kind, sha256)
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

/** An entry in the log, and its position. */
type SequencedEntry = LogEntry & { leaf_index: number }

/**
 * Gives the oldest pending entries consecutive positions from `first` on, and returns them in this
 * order. Entries of transactions that have not been committed are not visible, so they follow
 * later, whatever their ids are.
 */
export async function updateEntryPositions(tx: Tx, first: number, limit: number): Promise<LogEntry[]> {
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
    returning entry.kind, entry.sha256, entry.leaf_index`
  return numbered.toSorted((a, b) => a.leaf_index - b.leaf_index)
}

/** The entries in the log from position `first` on, at most `count`. */
export async function listEntries(db: Db, first: number, count: number): Promise<SequencedEntry[]> {
  return db<SequencedEntry[]>`
    select kind, sha256, leaf_index
    from log_entries
    where leaf_index >= ${first}
      and leaf_index < ${first + count}
    order by leaf_index
    limit ${count}`
}

/**
 * An entry's position, null while it is pending, and the newest checkpoint, null before the first.
 */
type FoundEntry = { leaf_index: number | null; size: number | null; note: string | null }

/** Reads both in one statement, so that the checkpoint covers an entry that has a position. */
export async function findEntry(db: Db, { kind, sha256 }: LogEntry): Promise<FoundEntry | null> {
  const [row] = await db<FoundEntry[]>`
    select entry.leaf_index, newest.size, newest.note
    from log_entries entry
    left join (
      select size, note
      from log_checkpoints
      order by size desc
      limit 1
    ) as newest on true
    where entry.kind = ${kind}
      and entry.sha256 = ${sha256}`
  return row ?? null
}
