import type { Sql, Tx } from './sql.ts'

/** Locks a name in the whole database until the transaction ends. Waits for its present holder. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** Locks a name until the transaction ends, unless another transaction has it. Never waits. */
export async function lockNameIfFree(tx: Tx, name: string): Promise<boolean> {
  const [{ held }] = await tx<[{ held: boolean }]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as held`
  return held
}

type Connection = Awaited<ReturnType<Sql['reserve']>>

/**
 * The locks of a process. `held` are those that its connection has, `names` also those that are
 * asked for.
 */
type Locks = { names: Set<string>; held: Set<string>; connection: Promise<Connection> | null }

const locksOf = new WeakMap<Sql, Locks>()

/**
 * Runs `work` unless other work of the same name is running. Returns false in that case. The lock
 * ends with its connection, so that a process which is killed leaves none behind. All locks of a
 * process are on one connection: work that waits for others must not use up those of the rest. If
 * it is lost, the next work takes all of them again on another one.
 */
export async function runAlone(sql: Sql, name: string, work: () => Promise<void>): Promise<boolean> {
  const locks = locksOf.get(sql) ?? { names: new Set(), held: new Set(), connection: null }
  locksOf.set(sql, locks)
  if (locks.names.has(name)) return false
  locks.names.add(name)
  try {
    if (!(await lock(sql, locks, name))) return false
    await work()
    return true
  } finally {
    if (locks.held.delete(name)) await unlock(locks, name)
    locks.names.delete(name)
    if (locks.names.size === 0) await drop(locks, locks.connection)
  }
}

/** Where the connection was lost since it was last used, tries once more on another one. */
async function lock(sql: Sql, locks: Locks, name: string): Promise<boolean> {
  const isFirst = locks.connection === null
  const connection = connect(sql, locks)
  try {
    if (!(await tryLock(await connection, name))) return false
    locks.held.add(name)
    return true
  } catch (error) {
    await drop(locks, connection)
    if (isFirst) throw error
    return lock(sql, locks, name)
  }
}

function connect(sql: Sql, locks: Locks): Promise<Connection> {
  locks.connection ??= sql.reserve().then(async (connection) => {
    try {
      for (const name of locks.held) await tryLock(connection, name)
      return connection
    } catch (error) {
      connection.release()
      throw error
    }
  })
  return locks.connection
}

async function tryLock(connection: Connection, name: string): Promise<boolean> {
  const [{ held }] = await connection<[{ held: boolean }]>`
    select pg_try_advisory_lock(hashtextextended(${name}, 0)) as held`
  return held
}

/** A lock whose connection is lost has ended with it. The work is done all the same. */
async function unlock(locks: Locks, name: string): Promise<void> {
  const { connection } = locks
  try {
    const opened = await connection
    if (opened !== null) await opened`select pg_advisory_unlock(hashtextextended(${name}, 0))`
  } catch {
    await drop(locks, connection)
  }
}

/** The next work opens another connection. */
async function drop(locks: Locks, connection: Locks['connection']): Promise<void> {
  if (connection === null || locks.connection !== connection) return
  locks.connection = null
  // Where it could not be opened, there is none.
  const opened = await connection.catch(() => null)
  if (opened === null) return
  // Where it is not lost, others get it next.
  await opened`select pg_advisory_unlock_all()`.catch(() => {})
  opened.release()
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
