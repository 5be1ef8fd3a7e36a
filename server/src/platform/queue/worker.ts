import { Logger, type ParsedCronItem, parseCronItems, run, runMigrations, type Task } from 'graphile-worker'
import { Value } from 'typebox/value'
import { type DatabaseAddress, openSql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { Job, ScheduledJob } from './job.ts'
import { settleLostJobs } from './lost-jobs.ts'
import { OwnJobs, TryStopped } from './own-jobs.ts'

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
const SETTLE_EVERY_MS = 30_000

/** Creates or updates the queue's own tables. */
export async function migrateQueue(databaseUrl: string, log: Log): Promise<void> {
  await runMigrations({ connectionString: databaseUrl, logger: queueLogger(log) })
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
  const runner = await run({
    connectionString: databaseUrl,
    taskList: toTasks(options, own),
    parsedCronItems: toCronItems(scheduled),
    concurrency,
    pollInterval: POLL_INTERVAL_MS,
    noHandleSignals: true,
    logger: queueLogger(log),
    events: own.events,
    preset: { plugins: [own.plugin] },
  })
  const settle = async () => {
    await own.hold()
    await settleLostJobs(locks, options)
  }
  const timer = setInterval(() => {
    settle().catch((err) => log.error({ err }, 'Could not settle lost jobs; trying again in 30 seconds'))
  }, SETTLE_EVERY_MS)
  const stop = async (timeoutMs: number) => {
    clearInterval(timer)
    await own.end(runner, timeoutMs)
    await locks.end({ timeout: 1 })
  }
  return { ended: runner.promise, stop }
}

function toTasks<Context>({ jobs, scheduled, context }: WorkerOptions<Context>, own: OwnJobs): Record<string, Task> {
  const tasks = jobs.map((job) => [job.name, toTask(job, context, own)])
  const scheduledTasks = scheduled.map(({ name, run }): [string, Task] => [
    name,
    (_, { job: { id } }) => own.run(id, (stopping) => run(context, {}, stopping)),
  ])
  return Object.fromEntries([...tasks, ...scheduledTasks])
}

function toTask<Context>(job: Job<Context, never>, context: Context, own: OwnJobs): Task {
  return async (payload, { job: { id, attempts, max_attempts } }) => {
    try {
      Value.Assert(job.payload, payload)
      await own.run(id, (stopping) => job.run(context, payload as never, stopping))
    } catch (error) {
      const isLast = attempts >= max_attempts && !(error instanceof TryStopped)
      if (isLast) await job.giveUp?.(context, payload as never, { cause: 'failed' })
      throw error
    }
  }
}

function toCronItems<Context>(scheduled: ScheduledJob<Context>[]): ParsedCronItem[] {
  return parseCronItems(
    scheduled.map(({ name, schedule }) => ({ task: name, match: schedule, options: { backfillPeriod: 0 } })),
  )
}

const LEVELS = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

/** Logs the queue's messages one level lower than it does. They contain job ids, no payloads. */
function queueLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    const name = meta?.error instanceof TryStopped ? 'debug' : (LEVELS[level as keyof typeof LEVELS] ?? 'debug')
    log[name]({ queue: true }, message)
  })
}
