import { MINUTE_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db/sql.ts'

/** `blocked_until` is the end of a pause in which the guess was not counted. */
type CountedGuess = { attempts: number; blocked_until: Date | null }

/**
 * Counts a guess as a failure, and begins the pause that follows it: `pauses` has its seconds by
 * the number of the failure. Parallel guesses are counted one after the other, so that those
 * after a pause has begun are not counted. The time of the row is that of the last guess.
 */
export async function upsertGuess(db: Db, key: string, pauses: readonly number[], at: Date): Promise<CountedGuess> {
  const [counted] = await db<CountedGuess[]>`
    insert into sign_in_attempts as counted (key, window_started_at, attempts)
    values (${key}, ${at}, 1)
    on conflict (key) do update
    set window_started_at = excluded.window_started_at,
      attempts = least(counted.attempts, 1000000) + 1,
      blocked_until = excluded.window_started_at
        + make_interval(secs => (${pauses}::int[])[least(counted.attempts + 1, ${pauses.length}::int)])
    where counted.blocked_until is null
      or counted.blocked_until <= excluded.window_started_at
    returning attempts, null::timestamptz as blocked_until`
  if (counted !== undefined) return counted
  const [blocked] = await db<CountedGuess[]>`
    select attempts, blocked_until
    from sign_in_attempts
    where key = ${key}`
  // Whoever succeeds meanwhile takes the row away.
  return blocked ?? { attempts: 0, blocked_until: at }
}

export async function deleteAttempts(db: Db, keys: string[]): Promise<void> {
  await db`
    delete from sign_in_attempts
    where key = any(${keys})`
}

/**
 * Removes pauses and windows that ended `before`, and counts of guesses in a row since
 * `countedSince`.
 */
export async function deleteOldAttempts(db: Db, before: Date, countedSince: Date): Promise<void> {
  await db`
    delete from sign_in_attempts
    where window_started_at < case when starts_with(key, 'count:') then ${countedSince} else ${before} end::timestamptz`
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

const UNSTATED_PROXIES_MAX = 20

/**
 * Stores from where requests with `X-Forwarded-For` came, of few addresses: clients choose to send
 * it.
 */
export async function upsertUnstatedProxy(db: Db, address: string, day: Date): Promise<void> {
  await db`
    insert into unstated_proxies (address, last_seen)
    select ${address}, ${day}::timestamptz::date
    where (select count(*) from unstated_proxies) < ${UNSTATED_PROXIES_MAX}
      or exists (select from unstated_proxies where address = ${address})
    on conflict (address) do update
    set last_seen = excluded.last_seen`
}

export async function listUnstatedProxies(db: Db, since: Date): Promise<{ address: string; last_seen: string }[]> {
  return db`
    select address, last_seen::text
    from unstated_proxies
    where last_seen >= ${since}::timestamptz::date
    order by last_seen desc, address
    limit ${UNSTATED_PROXIES_MAX}`
}

export async function deleteOldUnstatedProxies(db: Db, before: Date): Promise<void> {
  await db`
    delete from unstated_proxies
    where last_seen < ${before}::timestamptz::date`
}
