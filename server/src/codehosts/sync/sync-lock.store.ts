import type { Sql } from '../../platform/db/sql.ts'

/** A number space of its own ("sync") for the locks of synchronizations. */
const LOCK_SPACE = 0x73796e63

/**
 * Runs `work` unless another process works on the same connection; false if it does. The lock ends
 * with its session, so that a killed process leaves none behind.
 */
export async function withSyncLock(sql: Sql, connectionId: string, work: () => Promise<void>): Promise<boolean> {
  const session = await sql.reserve()
  try {
    const [row] = await session<[{ locked: boolean }]>`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${connectionId})) as locked`
    if (!row.locked) return false
    try {
      await work()
    } finally {
      await session`select pg_advisory_unlock(${LOCK_SPACE}::int, hashtext(${connectionId}))`
    }
    return true
  } finally {
    session.release()
  }
}
