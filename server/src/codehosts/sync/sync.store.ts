import type { Db, Sql, Tx } from '../../platform/db/sql.ts'
import type { WalkState } from '../kit/page-walk.ts'

/** Names a connection in the tables of the synchronization. */
export type SyncScope = { org_id: string; connection_id: string }

/** The same, with the host that its job asks. Earlier versions did not name it. */
export type QueuedSync = SyncScope & { provider?: string }

export type SyncPhase = 'deliveries' | 'repositories' | 'objects'

/** A synchronization in progress. */
export type Sync = SyncScope & {
  number: number
  started_at: Date
  /** Whether it reads items of the last seven days again, as one synchronization a day does. */
  rereads: boolean
  /** How far back lists are read again. Null: only what has changed. */
  since: Date | null
  phase: SyncPhase
  repositories_next: string | null
  repositories_etag: string | null
  /** How the list of repositories is walked through; `failure` says why that has ended. */
  repositories_walk: (WalkState & { failure?: string }) | null
}

/** Notes a request. It is answered by a synchronization that starts later. */
export async function upsertRequest(db: Db, scope: SyncScope, since: Date | null, now: Date): Promise<void> {
  await db`
    insert into codehost_syncs as sync (org_id, connection_id, requested_at, requested_since, due_at)
    values (${scope.org_id}, ${scope.connection_id}, ${now}, ${since}, ${now})
    on conflict (org_id, connection_id) do update
    set requested_at = coalesce(sync.requested_at, excluded.requested_at),
      requested_since = least(sync.requested_since, excluded.requested_since),
      due_at = excluded.due_at`
}

const CONNECTIONS_MAX = 10_000

export async function listActiveConnections(db: Db): Promise<QueuedSync[]> {
  return db<QueuedSync[]>`
    select org_id, id as connection_id, provider
    from codehost_connections
    where status = 'active'
    order by id
    limit ${CONNECTIONS_MAX}`
}

/** Connections whose synchronization is due. */
export async function listDueSyncs(db: Db, now: Date): Promise<QueuedSync[]> {
  return db<QueuedSync[]>`
    select sync.org_id, sync.connection_id, connection.provider
    from codehost_syncs sync
    join codehost_connections connection on connection.org_id = sync.org_id and connection.id = sync.connection_id
    where sync.due_at <= ${now}
      and connection.status <> 'removed'
    order by sync.due_at
    limit ${CONNECTIONS_MAX}`
}

const REREAD_EVERY = '1 day'

/**
 * Starts the synchronization that is due, or continues the one in progress; null if none is due.
 */
export async function updateSyncStarted(sql: Sql, connectionId: string, now: Date): Promise<Sync | null> {
  return sql.begin(async (tx) => {
    const isRereadDue = tx`coalesce(reread_at <= ${now}::timestamptz - ${REREAD_EVERY}::interval, true)`
    const [sync] = await tx<Sync[]>`
      update codehost_syncs
      set number = case when started_at is null then number + 1 else number end,
        since = case when started_at is null then requested_since else since end,
        requested_at = case when started_at is null then null else requested_at end,
        requested_since = case when started_at is null then null else requested_since end,
        repositories_walk = case when started_at is null then null else repositories_walk end,
        phase = coalesce(phase, 'deliveries'),
        rereads = case when started_at is null then ${isRereadDue} else rereads end,
        reread_at = case when started_at is null and ${isRereadDue} then ${now}::timestamptz else reread_at end,
        started_at = coalesce(started_at, ${now})
      where connection_id = ${connectionId}
        and due_at <= ${now}
      returning org_id, connection_id, number, started_at, since, phase, repositories_next, repositories_etag,
        repositories_walk, rereads`
    if (sync) await updateConnection(tx, connectionId, { sync_state: 'running', sync_error: null })
    return sync ?? null
  })
}

export async function updatePhase(tx: Tx, { org_id, connection_id }: SyncScope, phase: SyncPhase): Promise<void> {
  await tx`
    update codehost_syncs
    set phase = ${phase}
    where org_id = ${org_id}
      and connection_id = ${connection_id}`
  await tx`
    update codehost_connections
    set sync_phase = ${phase},
      sync_done = null,
      sync_total = null
    where id = ${connection_id}
      and sync_phase is distinct from ${phase}`
}

type ListPosition = Pick<Sync, 'repositories_next' | 'repositories_etag' | 'repositories_walk'>

export async function updateRepositoryList(tx: Tx, scope: SyncScope, position: ListPosition): Promise<void> {
  await tx`
    update codehost_syncs
    set repositories_next = ${position.repositories_next},
      repositories_etag = ${position.repositories_etag},
      repositories_walk = ${tx.json(position.repositories_walk)}
    where org_id = ${scope.org_id}
      and connection_id = ${scope.connection_id}`
}

const EVERY = '1 hour'

/**
 * Ends a synchronization. The next one is due in an hour, or at once if it was requested. It has
 * `failed` if its host refuses a repository as a whole.
 */
export async function updateSyncEnded(
  sql: Sql,
  scope: SyncScope,
  { state, error }: { state: 'idle' | 'failed'; error: string | null },
  now: Date,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update codehost_syncs
      set started_at = null,
        since = null,
        phase = null,
        due_at = ${now}::timestamptz + case when requested_at is null then ${EVERY}::interval else '0' end,
        pauses = 0
      where org_id = ${scope.org_id}
        and connection_id = ${scope.connection_id}`
    const ended = { sync_state: state, sync_phase: null, sync_done: null, sync_total: null }
    await updateConnection(tx, scope.connection_id, { ...ended, sync_error: error, last_synced_at: now })
  })
}

/** Pauses a synchronization. Returns how many pauses followed each other without progress. */
export async function updatePauses(tx: Tx, { org_id, connection_id }: SyncScope, progressed: boolean): Promise<number> {
  const [row] = await tx<[{ pauses: number }]>`
    update codehost_syncs
    set pauses = case when ${progressed} then 1 else pauses + 1 end
    where org_id = ${org_id}
      and connection_id = ${connection_id}
    returning pauses`
  return row.pauses
}

export async function updateDueAt(tx: Tx, { org_id, connection_id }: SyncScope, at: Date): Promise<void> {
  await tx`
    update codehost_syncs
    set due_at = ${at}
    where org_id = ${org_id}
      and connection_id = ${connection_id}`
}

type ShownSync = {
  sync_state: 'idle' | 'running' | 'failed'
  sync_phase: SyncPhase | null
  sync_done: number | null
  sync_total: number | null
  sync_error: string | null
  last_synced_at: Date
}

/** Updates what the connection shows of its synchronization. */
export async function updateConnection(db: Db, connectionId: string, shown: Partial<ShownSync>): Promise<void> {
  await db`
    update codehost_connections
    set ${db(shown)}
    where id = ${connectionId}`
}

/** Nothing is to be done for an hour. What is in progress or requested waits. */
export async function updateSyncPostponed(db: Db, connectionId: string, now: Date): Promise<void> {
  await db`
    update codehost_syncs
    set due_at = ${now}::timestamptz + ${EVERY}::interval
    where connection_id = ${connectionId}
      and due_at <= ${now}`
}

type SyncTiming = SyncScope & { provider: string; is_open: boolean; due_at: Date }

/** When the synchronization of a connection goes on. `is_open`: it is in progress or requested. */
export async function findTiming(db: Db, connectionId: string): Promise<SyncTiming | null> {
  const [row] = await db<SyncTiming[]>`
    select sync.org_id, sync.connection_id, connection.provider, coalesce(sync.started_at, sync.requested_at) is not null as is_open,
      sync.due_at
    from codehost_syncs sync
    join codehost_connections connection on connection.org_id = sync.org_id and connection.id = sync.connection_id
    where sync.connection_id = ${connectionId}
      and connection.status <> 'removed'`
  return row ?? null
}
