import type { Sql, Tx } from './sql.ts'

/** Locks a name in the whole database until the transaction ends. Waits for its present holder. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** The connection that holds the locks of a process, and for whom. */
type LockHolder = { connection: ReturnType<Sql['reserve']>; names: Set<string> }

const holders = new WeakMap<Sql, LockHolder>()

/**
 * Runs `work` unless other work of the same name is running. Returns false in that case. The lock
 * ends with its connection, so that a process which is killed leaves none behind. All locks of a
 * process are on one connection: work that waits for others must not use up those of the rest.
 */
export async function runAlone(sql: Sql, name: string, work: () => Promise<void>): Promise<boolean> {
  const holder = holders.get(sql) ?? { connection: sql.reserve(), names: new Set() }
  if (holder.names.has(name)) return false
  holders.set(sql, holder)
  holder.names.add(name)
  try {
    return await runLocked(sql, holder, name, work)
  } finally {
    holder.names.delete(name)
    if (holder.names.size === 0) await close(sql, holder)
  }
}

async function runLocked(sql: Sql, holder: LockHolder, name: string, work: () => Promise<void>): Promise<boolean> {
  const connection = await holder.connection
  const [{ held }] = await connection<[{ held: boolean }]>`
    select pg_try_advisory_lock(hashtextextended(${name}, 0)) as held`.catch((error) => {
    // The connection is lost. The next work gets another one.
    if (holders.get(sql) === holder) holders.delete(sql)
    throw error
  })
  if (!held) return false
  try {
    await work()
  } finally {
    await connection`select pg_advisory_unlock(hashtextextended(${name}, 0))`
  }
  return true
}

async function close(sql: Sql, holder: LockHolder): Promise<void> {
  if (holders.get(sql) === holder) holders.delete(sql)
  // Where it could not be opened, the work has failed already.
  const connection = await holder.connection.catch(() => null)
  connection?.release()
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
