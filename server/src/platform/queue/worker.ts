import { setTimeout as delay } from 'node:timers/promises'
import { Logger, type ParsedCronItem, parseCronItems, run, runMigrations, type Task } from 'graphile-worker'
import { Value } from 'typebox/value'
import { type DatabaseAddress, openSql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { Job, ScheduledJob } from './job.ts'
import { fieldsOfJob, givenUp, workOnJob } from './job-work.ts'
import { settleLostJobs } from './lost-jobs.ts'
import { OwnJobs, TryStopped } from './own-jobs.ts'
import { openQueuePool } from './queue-pool.ts'

type WorkerOptions<Context> = {
  /** The database's address in the form of libpq. */
  databaseUrl: string
  /** The same database, for the locks that distinguish running workers from dead ones. */
  address: DatabaseAddress
  context: Context
  jobs: Job<Context, never>[]
  scheduled: ScheduledJob<Context>[]
  log: Log
  concurrency: number
}

type RunningWorker = {
  /** Settles when the worker has stopped; fails if it stopped unexpectedly. */
  ended: Promise<void>
  /**
   * Takes no more jobs and aborts `stopping` of those in progress. Jobs that end by that, or that
   * have not ended when the time is over, go back to the queue without having used up a try.
   */
  stop(timeoutMs: number): Promise<void>
}

const POLL_INTERVAL_MS = 2000
const SETTLE_EVERY_MS = 10_000
/** A connection that is lost takes the worker's lock with it. */
const HOLD_EVERY_MS = 2000
const CLOSE_MS_MAX = 1000

/** Creates or updates the queue's own tables. */
export async function migrateQueue(databaseUrl: string, log: Log): Promise<void> {
  const pgPool = openQueuePool(databaseUrl, lostConnection(log))
  await runMigrations({ pgPool, logger: queueLogger(log) }).finally(() => pgPool.end())
}

/**
 * Works through the queue until it is stopped. PostgreSQL announces new jobs; polling is the safety
 * net.
 */
export async function startWorker<Context>(options: WorkerOptions<Context>): Promise<RunningWorker> {
  const { databaseUrl, address, scheduled, log, concurrency } = options
  const locks = openSql(address, { max: 1, applicationName: 'shiplock worker locks', lasting: true })
  const own = new OwnJobs(locks)
  await settleLostJobs(locks, options)
  const pgPool = openQueuePool(databaseUrl, lostConnection(log))
  const runner = await run({
    pgPool,
    taskList: toTasks(options, own),
    parsedCronItems: toCronItems(scheduled),
    concurrency,
    pollInterval: POLL_INTERVAL_MS,
    noHandleSignals: true,
    logger: queueLogger(log),
    events: own.events,
    preset: { plugins: [own.plugin] },
  })
  const holding = setInterval(() => own.hold().catch(() => {}), HOLD_EVERY_MS)
  const settle = async () => {
    await own.hold()
    await settleLostJobs(locks, options)
  }
  const settling = setInterval(() => {
    settle().catch((err) => log.error({ err }, 'Could not settle lost jobs; trying again in 10 seconds'))
  }, SETTLE_EVERY_MS)
  // A job that does not end in time still needs a connection when it ends.
  const ended = runner.promise.finally(() => pgPool.end())
  const stop = async (timeoutMs: number) => {
    clearInterval(holding)
    clearInterval(settling)
    await own.end(runner, timeoutMs)
    const closed = Promise.allSettled([locks.end({ timeout: 1 }), ended])
    await Promise.race([closed, delay(CLOSE_MS_MAX, undefined, { ref: false })])
  }
  return { ended, stop }
}

function toTasks<Context>({ jobs, scheduled, context }: WorkerOptions<Context>, own: OwnJobs): Record<string, Task> {
  const tasks = jobs.map((job) => [job.name, toTask(job, context, own)])
  const scheduledTasks = scheduled.map(({ name, run }): [string, Task] => [
    name,
    (_, { job: { id } }) => own.run(id, (stopping) => run(context, {}, stopping)),
  ])
  const all = [...tasks, ...scheduledTasks] as [string, Task][]
  return Object.fromEntries(all.map(([name, task]) => [name, observed(name, task)]))
}

function observed(name: string, task: Task): Task {
  return (payload, helpers) => {
    const { id, flags, attempts } = helpers.job
    const run = async () => void (await task(payload, helpers))
    return workOnJob({ name, id, payload, flags, attempts }, (error) => error instanceof TryStopped, run)
  }
}

function toTask<Context>(job: Job<Context, never>, context: Context, own: OwnJobs): Task {
  return async (payload, { job: { id, attempts, max_attempts } }) => {
    try {
      Value.Assert(job.payload, payload)
      await own.run(id, (stopping) => job.run(context, payload as never, stopping))
    } catch (error) {
      const isLast = attempts >= max_attempts && !(error instanceof TryStopped)
      if (isLast) {
        givenUp.inc({ task: job.name })
        await job.giveUp?.(context, payload as never, { cause: 'failed' })
      }
      throw error
    }
  }
}

function toCronItems<Context>(scheduled: ScheduledJob<Context>[]): ParsedCronItem[] {
  return parseCronItems(
    scheduled.map(({ name, schedule }) => ({ task: name, match: schedule, options: { backfillPeriod: 0 } })),
  )
}

function lostConnection(log: Log) {
  return (err: Error) => log.warn({ err, queue: true }, 'A connection of the queue was lost')
}

const LEVELS = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

/**
 * Logs the queue's messages one level lower than it does. They contain no payloads, and those about
 * a job contain its ids.
 */
function queueLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    const name = meta?.error instanceof TryStopped ? 'debug' : (LEVELS[level as keyof typeof LEVELS] ?? 'debug')
    const job = meta?.job as Parameters<typeof fieldsOfJob>[0] | undefined
    log[name]({ queue: true, ...(job && fieldsOfJob(job)) }, message)
  })
}
