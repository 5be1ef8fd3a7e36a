import type { Db } from '../../platform/db/sql.ts'

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
