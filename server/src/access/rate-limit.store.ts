import { MINUTE_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db/sql.ts'

type CountedAttempts = { attempts: number; window_started_at: Date }

/**
 * Counts an attempt. A window starts with its first attempt and ends after `windowMs`. All
 * processes count together, and parallel attempts are counted one after the other.
 */
export async function countAttempt(db: Db, key: string, windowMs: number, at: Date): Promise<CountedAttempts> {
  const windowStart = new Date(at.getTime() - windowMs)
  const [row] = await db<[CountedAttempts]>`
    insert into sign_in_attempts as counted (key, window_started_at, attempts)
    values (${key}, ${at}, 1)
    on conflict (key) do update
    set window_started_at = case
        when counted.window_started_at <= ${windowStart} then excluded.window_started_at
        else counted.window_started_at
      end,
      attempts = case when counted.window_started_at <= ${windowStart} then 1 else counted.attempts + 1 end
    returning attempts, window_started_at`
  return row
}

/** Takes back one attempt. */
export async function updateReleasedAttempt(db: Db, key: string): Promise<void> {
  await db`
    update sign_in_attempts
    set attempts = attempts - 1
    where key = ${key}
      and attempts > 0`
}

export async function deleteAttempts(db: Db, key: string): Promise<void> {
  await db`
    delete from sign_in_attempts
    where key = ${key}`
}

export async function deleteOldAttempts(db: Db, before: Date): Promise<void> {
  await db`
    delete from sign_in_attempts
    where window_started_at < ${before}`
}

/** A caller's window of one minute, and the requests in it so far. */
type RequestWindow = { caller: string; window_started_at: Date; used: number }

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
