import type { Db } from '../db/sql.ts'

/**
 * A worker holds an advisory lock as long as it runs, in a separate number space ("work"). Running
 * jobs name their worker, so a job whose worker holds no lock is lost.
 */
const LOCK_SPACE = 0x776f726b

/**
 * An SQL expression that takes the lock of a worker, which ends with the connection. If it was lost
 * with a connection that the server still has, that one holds it; the next call gets it.
 */
export function buildWorkerLock(db: Db, workerId: string): ReturnType<Db> {
  return db`pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${workerId}))`
}

/** Takes the lock again where it was lost. Holding it twice changes nothing. */
export async function lockWorker(db: Db, workerId: string): Promise<void> {
  await db`select ${buildWorkerLock(db, workerId)}`
}

/** An SQL condition: the worker that a column names does not run. */
export function hasDied(db: Db, column: ReturnType<Db>): ReturnType<Db> {
  return db`not exists (
    select from pg_locks held
    where held.locktype = 'advisory'
      and held.database = (select oid from pg_database where datname = current_database())
      and held.classid = ${LOCK_SPACE}
      and held.objid = (hashtext(${column})::bigint & 4294967295)::oid
      and held.granted
  )`
}
