import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../clock.ts'
import { type DatabaseAddress, openSql } from '../db/sql.ts'
import { JOBS_CHANNEL } from './job.store.ts'
import { JobSlots, type SlotsOptions } from './job-slots.ts'
import { settleLostJobs } from './lost-jobs.ts'
import { lockWorker, updateDueJobs, updateReturnedJobs } from './running-jobs.store.ts'
import { openSchedule } from './schedule.ts'

type WorkerOptions<Context> = SlotsOptions<Context> & {
  /**
   * The queue has connections of its own: one for all its statements, and one that is told of jobs.
   */
  address: DatabaseAddress
}

type RunningWorker = {
  /** Resolves when the worker has stopped, and its last job has ended. */
  ended: Promise<void>
  /**
   * Takes no more jobs and aborts `stopping` of those in progress. Jobs that end by that, or that
   * have not ended when the time is over, go back to the queue without having used up a try.
   */
  stop(timeoutMs: number): Promise<void>
}

/**
 * How late a delayed job may start, and how soon a lock is held again that a lost connection had.
 */
const TICK_MS = 1000
const SETTLE_EVERY_MS = 10_000
const RETURN_MS_MAX = 2000
const CLOSE_MS_MAX = 1000

/**
 * Works through the queue until it is stopped. PostgreSQL announces new jobs; polling is the safety
 * net.
 */
export async function startWorker<Context>(options: WorkerOptions<Context>): Promise<RunningWorker> {
  const { address, scheduled, log } = options
  const workerId = `worker-${randomUUID()}`
  // All statements share one connection, so that none is sent before the lock of a new one is held.
  const sql = openSql(address, { max: 1, applicationName: 'shiplock worker queue', lasting: true })
  const slots = new JobSlots(sql, workerId, options)
  await lockWorker(sql, workerId)
  await settleLostJobs(sql, options)
  const queueScheduled = await openSchedule(sql, scheduled as never, systemClock.now())
  const ended = Promise.withResolvers<void>()
  const stopping = new AbortController()

  const tick = async () => {
    await lockWorker(sql, workerId)
    await queueScheduled(systemClock.now())
    await updateDueJobs(sql)
    await slots.fill()
  }
  const settle = () => settleLostJobs(sql, options)
  const loops = [
    repeat(TICK_MS, stopping.signal, tick, (err) =>
      log.warn({ err, queue: true }, 'Could not look for jobs; trying again'),
    ),
    repeat(SETTLE_EVERY_MS, stopping.signal, settle, (err) =>
      log.error({ err }, 'Could not settle lost jobs; trying again in 10 seconds'),
    ),
  ]
  const wake = () => void slots.fill()
  await updateDueJobs(sql)
  await sql.listen(JOBS_CHANNEL, wake, wake)

  const stop = async (timeoutMs: number) => {
    stopping.abort()
    const worked = slots.stop()
    void worked.then(ended.resolve)
    await Promise.race([worked, delay(timeoutMs, undefined, { ref: false })])
    // Without a database, the jobs are lost with the lock, and another worker takes them.
    const returned = updateReturnedJobs(sql, workerId).catch(() => {})
    await Promise.race([returned, delay(RETURN_MS_MAX, undefined, { ref: false })])
    const closed = Promise.all([sql.end({ timeout: 1 }), ...loops])
    await Promise.race([closed, delay(CLOSE_MS_MAX, undefined, { ref: false })])
  }
  return { ended: ended.promise, stop }
}

/** Repeats `work` with pauses until `stopping` is aborted, also if it fails. */
async function repeat(
  pauseMs: number,
  stopping: AbortSignal,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!stopping.aborted) {
    await delay(pauseMs, undefined, { signal: stopping }).catch(() => {})
    if (!stopping.aborted) await work().catch(onError)
  }
}
