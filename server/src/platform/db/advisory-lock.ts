import type { Sql, Tx } from './sql.ts'

/** Locks a name in the whole database until the transaction ends. Waits for its present holder. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/**
 * Runs `work` unless another process runs work of the same name. Returns false in that case. The
 * lock ends with its connection, so that a killed process leaves none behind.
 */
export async function runAlone(sql: Sql, name: string, work: () => Promise<void>): Promise<boolean> {
  const connection = await sql.reserve()
  try {
    const [{ held }] = await connection<[{ held: boolean }]>`
      select pg_try_advisory_lock(hashtextextended(${name}, 0)) as held`
    if (!held) return false
    try {
      await work()
    } finally {
      await connection`select pg_advisory_unlock(hashtextextended(${name}, 0))`
    }
    return true
  } finally {
    connection.release()
  }
}

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
 * when both have returned: the process that drains looks again after it has released the lock.
 */
export async function runDrainAlone(sql: Sql, { key, drain, hasMore }: Drain): Promise<void> {
  do {
    if (!(await runAlone(sql, key, drain))) return
  } while (await hasMore())
}
