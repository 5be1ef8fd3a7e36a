import {
  Logger,
  type ParsedCronItem,
  parseCronItems,
  type Runner,
  run,
  runMigrations,
  type Task,
} from 'graphile-worker'
import { Value } from 'typebox/value'
import { type DatabaseAddress, openSql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { Job, ScheduledJob } from './job.ts'
import { watchWorkers } from './lost-workers.ts'

export type WorkerOptions<Context> = {
  /** Address in the form of libpq. */
  databaseUrl: string
  /** The same database, for the locks that tell living workers from dead ones. */
  address: DatabaseAddress
  context: Context
  jobs: Job<Context, never>[]
  scheduled: ScheduledJob<Context>[]
  log: Log
  concurrency: number
}

const POLL_INTERVAL_MS = 2000

/** Creates or updates the queue's own tables. */
export async function migrateQueue(databaseUrl: string, log: Log): Promise<void> {
  await runMigrations({ connectionString: databaseUrl, logger: queueLogger(log) })
}

/** Works through the queue until stopped. New jobs are announced by PostgreSQL; polling is only the safety net. */
export async function startWorker<Context>(options: WorkerOptions<Context>): Promise<Runner> {
  const { databaseUrl, address, context, jobs, scheduled, log, concurrency } = options
  const tasks = [
    ...jobs.map((job) => [job.name, toTask(job, context)]),
    ...scheduled.map((job) => [job.name, scheduledTask(job, context)]),
  ]
  const watch = await watchWorkers(
    openSql(address, { max: 1, applicationName: 'shiplock worker locks', lasting: true }),
    log,
  )
  const runner = await run({
    connectionString: databaseUrl,
    taskList: Object.fromEntries(tasks),
    parsedCronItems: toCronItems(scheduled),
    concurrency,
    pollInterval: POLL_INTERVAL_MS,
    noHandleSignals: true,
    logger: queueLogger(log),
    events: watch.events,
  })
  const stopWatch = () => watch.stop()
  runner.promise.then(stopWatch, stopWatch)
  return runner
}

function toTask<Context>(job: Job<Context, never>, context: Context): Task {
  return async (payload, { job: queued }) => {
    Value.Assert(job.payload, payload)
    try {
      await job.run(context, payload as never)
    } catch (error) {
      if (queued.attempts >= queued.max_attempts) await job.giveUp?.(context, payload as never)
      throw error
    }
  }
}

function scheduledTask<Context>(job: ScheduledJob<Context>, context: Context): Task {
  return () => job.run(context, {})
}

function toCronItems<Context>(scheduled: ScheduledJob<Context>[]): ParsedCronItem[] {
  return parseCronItems(
    scheduled.map(({ name, schedule }) => ({ task: name, match: schedule, options: { backfillPeriod: 0 } })),
  )
}

const LEVELS = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

/** The queue's chatter at a level lower than ours. Its messages hold job ids, no payloads. */
function queueLogger(log: Log): Logger {
  return new Logger(
    () => (level, message) => log[LEVELS[level as keyof typeof LEVELS] ?? 'debug']({ queue: true }, message),
  )
}
