import type { Sql } from './sql.ts'

/** How far a primary server has written its log, on the timeline that its last promotion began. */
export type WalPosition = { lsn: string; timeline: number }

/**
 * The position behind every transaction that was acknowledged before the call. With
 * `synchronous_commit = off`, such a transaction may not have been written to the disk yet.
 */
export async function readWalPosition(primary: Sql): Promise<WalPosition> {
  const [row] = await primary<[{ lsn: string; timeline: string }]>`
    select
      case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end::text as lsn,
      left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline`
  return { lsn: row.lsn, timeline: Number.parseInt(row.timeline, 16) }
}

/** Writes the timeline where a replica can read it, once. */
export async function writeTimeline(primary: Sql, timeline: number): Promise<void> {
  await primary`
    insert into replica_marks as mark (timeline)
    values (${timeline})
    on conflict (is_only) do update
    set timeline = excluded.timeline
    where mark.timeline < excluded.timeline`
}

/**
 * How a replica compares with a position: `lags`, or is `foreign`, because it follows another
 * primary server, or none.
 */
export type ReplicaState = 'current' | 'lags' | 'foreign'

export async function readReplicaState(replica: Sql, { lsn, timeline }: WalPosition): Promise<ReplicaState> {
  const [row] = await replica<[{ is_replica: boolean; has_replayed: boolean; timeline: number | null }]>`
    select pg_is_in_recovery() as is_replica,
      coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) as has_replayed,
      (select timeline from replica_marks) as timeline`
  if (!row.is_replica) return 'foreign'
  if (!row.has_replayed) return 'lags'
  return row.timeline === timeline ? 'current' : 'foreign'
}
