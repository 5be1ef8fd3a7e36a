import type { Sql, Tx } from './sql.ts'

/**
 * Runs a transaction that `stopping` ends at once, even in the middle of a statement: it rolls back, and
 * the promise is rejected. Its connection is closed from another one, because a statement that waits
 * for a lock, or for the rows of a COPY, cannot be cancelled reliably in another way.
 */
export async function beginStoppable<T>(
  sql: Sql,
  stopping: AbortSignal | undefined,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  if (!stopping) return (await sql.begin(work)) as T
  return (await sql.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
    const end = () => void sql`select pg_terminate_backend(${pid})`.catch(() => {})
    stopping.throwIfAborted()
    stopping.addEventListener('abort', end)
    try {
      return await work(tx)
    } finally {
      stopping.removeEventListener('abort', end)
    }
  })) as T
}
