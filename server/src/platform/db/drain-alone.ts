import type { Sql } from './sql.ts'

type Drain = {
  /** Names the queue among all queues. */
  key: string
  /** Works until nothing is left that can be done now. */
  drain(): Promise<void>
  /** Whether something can be done now. */
  hasMore(): Promise<boolean>
}

/**
 * Drains a queue unless another process is draining it. What was queued before the call is drained
 * when both have returned: whoever drains looks again after the lock is released. The lock ends
 * with its connection, so a killed process leaves none.
 */
export async function drainAlone(sql: Sql, { key, drain, hasMore }: Drain): Promise<void> {
  do {
    const connection = await sql.reserve()
    try {
      const [{ held }] = await connection<[{ held: boolean }]>`
        select pg_try_advisory_lock(hashtextextended(${key}, 0)) as held`
      if (!held) return
      try {
        await drain()
      } finally {
        await connection`select pg_advisory_unlock(hashtextextended(${key}, 0))`
      }
    } finally {
      connection.release()
    }
  } while (await hasMore())
}
