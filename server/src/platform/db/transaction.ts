import type { Sql, Tx } from './sql.ts'

const CANCEL_EVERY_MS = 50

/**
 * Runs a transaction that rolls back, and rejects the promise, soon after `stopping` is aborted:
 * the statement in progress is cancelled, and so is every later one. `work` itself stops what it
 * does between its statements.
 */
export async function beginStoppable(
  sql: Sql,
  stopping: AbortSignal | undefined,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  if (!stopping) return void (await sql.begin(work))
  await sql.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
    stopping.throwIfAborted()
    let timer: NodeJS.Timeout | undefined
    const cancel = () => void sql`select pg_cancel_backend(${pid})`.catch(() => {})
    const cancelAll = () => {
      cancel()
      timer = setInterval(cancel, CANCEL_EVERY_MS)
    }
    stopping.addEventListener('abort', cancelAll)
    try {
      await work(tx)
    } finally {
      stopping.removeEventListener('abort', cancelAll)
      clearInterval(timer)
    }
  })
}

/** Runs `work` in a transaction that is always rolled back, and returns its result. */
export async function rolledBack<Result>(sql: Sql, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const done: { result?: Result } = {}
  const end = new Error('The transaction is rolled back as intended.')
  try {
    await sql.begin(async (tx) => {
      done.result = await work(tx)
      throw end
    })
  } catch (error) {
    if (error !== end) throw error
  }
  return done.result as Result
}
