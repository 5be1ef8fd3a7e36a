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

/**
 * A pool that consists of one transaction: what asks for a transaction works in this one, so that
 * all of it is stored together or not at all. A transaction that fails cannot be continued.
 */
export function toNestedSql(tx: Tx): Sql {
  const nested: Tx = new Proxy(tx, {
    get(target, name) {
      if (name === 'begin') return begin
      if (name === 'reserve') return reserve
      if (name === 'savepoint') return savepoint
      return Reflect.get(target, name)
    },
  })
  const begin = async (...given: unknown[]) => {
    const result = await (given.at(-1) as (tx: Tx) => Promise<unknown>)(nested)
    await dropTemporaryTables(tx)
    return result
  }
  const savepoint = async (work: (tx: Tx) => Promise<unknown>) => {
    await tx.unsafe('savepoint nested')
    try {
      const result = await work(nested)
      await tx.unsafe('release savepoint nested')
      return result
    } catch (error) {
      await tx.unsafe('rollback to savepoint nested; release savepoint nested')
      throw error
    }
  }
  const reserve = async () =>
    new Proxy(nested, { get: (of, name) => (name === 'release' ? () => {} : Reflect.get(of, name)) })
  return nested as unknown as Sql
}

/** What `on commit drop` would do at the end of a transaction of its own. */
async function dropTemporaryTables(tx: Tx): Promise<void> {
  const tables = await tx<{ name: string }[]>`
    select format('pg_temp.%I', relname) as name
    from pg_class
    where relnamespace = pg_my_temp_schema()
      and relkind = 'r'`
  if (tables.length > 0) await tx.unsafe(`drop table ${tables.map(({ name }) => name).join(', ')}`)
}
