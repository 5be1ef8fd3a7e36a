import { EventEmitter } from 'node:events'
import type { WorkerEvents } from 'graphile-worker'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'

/** Advisory locks of workers, in a number space of our own ("work"). */
const LOCK_SPACE = 0x776f726b
const LOOK_EVERY_MS = 30_000

export type WorkerWatch = { events: WorkerEvents; stop: () => Promise<void> }

/**
 * Gives the jobs of workers that died back to the queue. graphile-worker itself would wait four hours, because it
 * cannot tell a dead worker from a slow one. We can: a worker holds an advisory lock as long as it lives, on `sql`, a
 * connection that the caller opened for nothing else (`max: 1`, never renewed). Jobs are locked by pool, one a process.
 */
export async function watchWorkers(sql: Sql, log: Log): Promise<WorkerWatch> {
  const events: WorkerEvents = new EventEmitter()
  const orLog = (work: Promise<void>) => void work.catch((err) => log.error({ err }, 'workers are not watched'))
  let own: string | null = null
  /** The own lock is taken anew each time: it is gone when the connection was. */
  const look = async () => {
    if (own !== null) await hold(sql, own)
    await release(sql, log)
  }
  events.on('pool:create', ({ workerPool }) => {
    own = workerPool.id
    orLog(hold(sql, own))
  })
  await look()
  const timer = setInterval(() => orLog(look()), LOOK_EVERY_MS)
  return {
    events,
    stop: async () => {
      clearInterval(timer)
      await sql.end({ timeout: 1 })
    },
  }
}

async function hold(sql: Sql, workerId: string): Promise<void> {
  await sql`select pg_advisory_lock(${LOCK_SPACE}::int, hashtext(${workerId}))`
}

async function release(sql: Sql, log: Log): Promise<void> {
  const lost = await findLostWorkers(sql)
  if (lost.length === 0) return
  log.warn({ workers: lost }, 'jobs of workers that died go back to the queue')
  await sql`select graphile_worker.force_unlock_workers(${lost})`
}

/** Workers that hold a job, and no lock that says they live. */
async function findLostWorkers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ locked_by: string }[]>`
    select distinct job.locked_by
    from graphile_worker.jobs job
    where job.locked_by is not null
      and not exists (
        select from pg_locks held
        where held.locktype = 'advisory'
          and held.database = (select oid from pg_database where datname = current_database())
          and held.classid = ${LOCK_SPACE}
          and held.objid = (hashtext(job.locked_by)::bigint & 4294967295)::oid
          and held.granted
      )
    limit 1000`
  return rows.map((row) => row.locked_by)
}
