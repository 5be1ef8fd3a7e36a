import { setTimeout as delay } from 'node:timers/promises'
import { openAside, type Sql, type Tx } from './sql.ts'

const CANCEL_EVERY_MS = 50

/**
 * Runs a transaction that rolls back, and rejects the promise, soon after `stopping` is aborted:
 * the statement in progress is cancelled, and so is every later one. `work` itself stops what it
 * does between its statements.
 */
export async function runStoppable(
  sql: Sql,
  stopping: AbortSignal | undefined,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  if (!stopping) return void (await sql.begin(work))
  await sql.begin(async (tx) => {
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
    stopping.throwIfAborted()
    const ended = new AbortController()
    let cancelling: Promise<void> | undefined
    const cancel = () => {
      cancelling = cancelUntil(ended.signal, sql, pid)
    }
    stopping.addEventListener('abort', cancel)
    try {
      await work(tx)
    } finally {
      stopping.removeEventListener('abort', cancel)
      ended.abort()
      // A cancel that is still in flight must not hit the next user of this connection.
      await cancelling
    }
    stopping.throwIfAborted()
  })
}

/**
 * Cancels the statements of a connection, one after the other. Uses a separate connection, because
 * all connections of the pool may be busy. Resolves when no cancel is in flight.
 */
async function cancelUntil(ended: AbortSignal, sql: Sql, pid: number): Promise<void> {
  const aside = openAside(sql)
  while (!ended.aborted) {
    await aside`select pg_cancel_backend(${pid}::integer)`.catch(() => {})
    await delay(CANCEL_EVERY_MS, undefined, { signal: ended }).catch(() => {})
  }
  await aside.end()
}

/** Runs `work` in a transaction that is always rolled back, and returns its result. */
export async function runRolledBack<Result>(sql: Sql, work: (tx: Tx) => Promise<Result>): Promise<Result> {
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
