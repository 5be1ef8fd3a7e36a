import type { Db, Tx } from '../platform/db/sql.ts'

/**
 * The run in progress, or the last one; and when the last run finished, and how long it took. Null
 * before one has finished.
 */
type RetentionState = {
  started_at: Date
  is_finished: boolean
  finished_at: Date | null
  seconds: number | null
  /** The organizations up to this id are done; null for none. */
  passed: string | null
}

/** Null before the first run. */
export async function findState(db: Db): Promise<RetentionState | null> {
  const [row] = await db<RetentionState[]>`
    select started_at, is_finished, finished_at, seconds, passed
    from retention_state`
  return row ?? null
}

/** Starts a run, or continues the one that is unfinished. */
export async function upsertRetentionRun(db: Db, now: Date): Promise<void> {
  await db`
    with begun as (
      insert into retention_state as state (started_at)
      values (${now})
      on conflict (singleton) do update
      set started_at = excluded.started_at, is_finished = false
      where state.is_finished
      returning started_at
    )
    update retention_kinds
    set removed_in_run = 0
    where exists (select from begun)`
}

export async function updateFinishedRun(db: Db, now: Date): Promise<void> {
  await db`
    update retention_state
    set is_finished = true, finished_at = ${now}, passed = null,
      seconds = extract(epoch from ${now}::timestamptz - started_at)`
}

/** Notes that an organization is done. */
export async function updatePassed(db: Db, id: string): Promise<void> {
  await db`
    update retention_state
    set passed = ${id}`
}

/** Adds to the figures, in the transaction of the removal. */
export async function upsertRemoved(tx: Tx, kind: string, removed: number): Promise<void> {
  await tx`
    insert into retention_kinds as figures (kind, removed, removed_in_run)
    values (${kind}, ${removed}, ${removed})
    on conflict (kind) do update
    set removed = figures.removed + excluded.removed,
      removed_in_run = figures.removed_in_run + excluded.removed_in_run`
}

/** How many rows of a kind were removed: ever, and by the run in progress or the last one. */
export type Removed = { kind: string; removed: number; removed_in_run: number }

export async function listRemoved(db: Db): Promise<Removed[]> {
  return db<Removed[]>`
    select kind, removed, removed_in_run
    from retention_kinds
    order by kind`
}
