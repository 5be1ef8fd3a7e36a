import type { TSchema } from 'typebox'
import type { Db } from '../db/sql.ts'
import { causeFlags } from './job-work.ts'

/** A kind of background job. `Context` is what the program passes to every job. */
export type Job<Context, Payload = unknown> = {
  /** `slice.verb-noun`. It is stored with every queued job, so it never changes. */
  name: string
  /** Ids only. A job whose payload does not match this schema fails. */
  payload: TSchema
  /**
   * How often the job may fail (throw) before it is given up; the pauses between the tries grow. A
   * mistake of a user is not a failure: it ends in a state that the user can see.
   */
  attemptsMax: number
  /**
   * Of the jobs that wait, those with the lowest number start first; the default is 0. Work that
   * follows an import has a higher one, so that it does not hold up what people wait for.
   */
  priority?: number
  /**
   * Jobs with the same key are one while they wait: queued twice before it starts, the job runs
   * once.
   */
  once?(payload: Payload): string
  /**
   * Must be safe to run twice. `stopping` is aborted when the worker stops: a job that takes long
   * then rolls back and throws, and is run again from the start, without having used up a try.
   */
  run(context: Context, payload: Payload, stopping?: AbortSignal): Promise<void>
  /**
   * Called when the job will not be tried again, so that nothing waits for it. Must be safe to call
   * twice.
   */
  giveUp?(context: Context, payload: Payload, cause: GiveUpCause): Promise<void>
}

/** The last try failed, or the worker died during too many tries. */
export type GiveUpCause = { cause: 'failed' } | { cause: 'interrupted'; times: number }

/** A job that is started by the clock, once in the whole installation. */
export type ScheduledJob<Context> = Pick<Job<Context>, 'name' | 'run'> & {
  /** crontab(5) notation, in UTC. */
  schedule: string
}

/** What identifies a job to the queue. */
type QueuedJob<Payload> = Pick<Job<never, Payload>, 'name' | 'attemptsMax' | 'priority' | 'once'>

/**
 * Queues a job in the caller's transaction: the change that causes the job and the job are stored
 * together. The job starts after `delayMs` at the earliest.
 */
export async function enqueue<Payload extends object>(
  db: Db,
  job: QueuedJob<Payload>,
  payload: Payload,
  delayMs = 0,
): Promise<void> {
  const key = job.once ? `${job.name} ${job.once(payload)}` : null
  const added = db`
    select graphile_worker.add_job(
      ${job.name}::text,
      ${db.json(payload as never)}::json,
      run_at => now() + ${delayMs} * interval '1 millisecond',
      max_attempts => ${job.attemptsMax}::int,
      job_key => ${key}::text,
      priority => ${job.priority ?? 0}::int,
      flags => ${causeFlags()}::text[]
    )`
  if (key === null || delayMs > 0) await added
  else
    await db`
      with waiting as (${waitingJob(db, key, payload)}), told as (
        select pg_notify('jobs:insert', '{"count":1}')
        from waiting
      )
      (${added} where not exists (select from waiting))
      union all
      (select null from told)`
}

/**
 * The same job, if it waits already. The lock keeps it waiting until the transaction ends, so that
 * it sees the changes of the transaction. This writes much less than queueing the job again.
 */
function waitingJob(db: Db, key: string, payload: object) {
  return db`
    select id
    from graphile_worker._private_jobs
    where key = ${key}
      and payload::jsonb = ${db.json(payload as never)}::jsonb
      and is_available
      and attempts = 0
      and run_at <= now()
    for share`
}

/**
 * An SQL expression that queues jobs from within a statement: one for each row, all in one call.
 * `payload` is a JSON expression of the row; `once` is a text expression with the value of the
 * job's `once`.
 */
export function enqueueRows<Payload extends object>(
  db: Db,
  { name, attemptsMax, priority = 0 }: QueuedJob<Payload>,
  { payload, once }: { payload: ReturnType<Db>; once: ReturnType<Db> },
): ReturnType<Db> {
  return db`graphile_worker.add_jobs(
    array_agg(
      (${name}::text, ${payload}, null, null, ${attemptsMax}::smallint, ${`${name} `}::text || ${once},
        ${priority}::smallint, ${causeFlags()}::text[])
        ::graphile_worker.job_spec
    )
  )`
}
