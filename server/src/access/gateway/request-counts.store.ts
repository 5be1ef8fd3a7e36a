import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'

/** A caller's window of one minute, and the requests in it so far. */
export type RequestWindow = { caller: string; window_started_at: Date; used: number }

/**
 * Adds requests to the windows of their callers, which all processes share, and returns the
 * windows. A window starts with the caller's first request. One that starts far in the future, by a
 * clock that was wrong, does not count.
 */
export async function upsertRequestCounts(
  db: Db,
  requests: ReadonlyMap<string, number>,
  now: Date,
): Promise<RequestWindow[]> {
  const isOpen = db`
    counted.window_started_at > ${new Date(now.getTime() - MINUTE_MS)}
    and counted.window_started_at < ${new Date(now.getTime() + MINUTE_MS)}`
  // In the order of the callers, so that processes do not wait for each other in a circle.
  return db<RequestWindow[]>`
    insert into request_counts as counted (caller, window_started_at, used)
    select caller, ${now}, requests
    from unnest(${[...requests.keys()]}::text[], ${[...requests.values()]}::int[]) as added (caller, requests)
    order by caller
    on conflict (caller) do update
    set window_started_at = case when ${isOpen} then counted.window_started_at else excluded.window_started_at end,
      used = case when ${isOpen} then counted.used else 0 end + excluded.used
    returning caller, window_started_at, used`
}

export async function deleteOldWindows(db: Db, before: Date): Promise<void> {
  await db`
    delete from request_counts
    where window_started_at < ${before}`
}
