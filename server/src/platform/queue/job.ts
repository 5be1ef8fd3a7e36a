import type { TSchema } from 'typebox'
import type { Db } from '../db/sql.ts'
import { insertJob, insertJobs, type JobClass, type NewJobKind } from './job.store.ts'
import { currentCause } from './job-work.ts'

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
   * `interactive`, the default, starts before `bulk`, which is for work that nobody waits for and
   * always leaves a slot of a worker free. Within a class, organizations take turns.
   */
  class?: JobClass
  /**
   * Of the jobs of an organization and class, those with the lowest number start first; the default
   * is 0. Work that follows an import has a higher one.
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
export type ScheduledJob<Context> = Pick<Job<Context>, 'name' | 'class' | 'run'> & {
  /** crontab(5) notation, in UTC. */
  schedule: string
}

/** What identifies a job to the queue. */
type QueuedJob<Payload> = Pick<Job<never, Payload>, 'name' | 'class' | 'attemptsMax' | 'priority' | 'once'>

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
  await insertJob(db, { ...toKind(job), key, payload, delayMs })
}

/**
 * The INSERT that queues a job for each row of `from`, as a part of a statement. `payload` is a
 * JSON expression of the row; `once` is a text expression with the value of the job's `once`.
 */
export function enqueueRows<Payload extends object>(
  db: Db,
  job: QueuedJob<Payload>,
  { payload, once, from }: Record<'payload' | 'once' | 'from', ReturnType<Db>>,
): ReturnType<Db> {
  const key = db`${`${job.name} `}::text || ${once}`
  return insertJobs(db, toKind(job), db`select ${payload} as payload, ${key} as key from ${from}`)
}

function toKind({ name, class: jobClass, priority, attemptsMax }: QueuedJob<never>): NewJobKind {
  return {
    name,
    class: jobClass ?? 'interactive',
    priority: priority ?? 0,
    attempts_max: attemptsMax,
    ...currentCause(),
  }
}
