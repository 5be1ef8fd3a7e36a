import type { Db } from '../db/sql.ts'
import type { Lazy } from '../lazy.ts'
import { insertJob, insertJobs, type JobClass, type NewJobKind } from './job.store.ts'
import { getCurrentCause } from './job-work.ts'
import type { PayloadSchema } from './payload.ts'
import { EVERY_ORGANIZATION, type Update, type UpdateFeed } from './update.ts'

/** The last try failed, or the worker died during too many tries. */
export type GiveUpCause = { cause: 'failed' } | { cause: 'interrupted'; times: number }

type Run<Context, Payload> = (context: Context, payload: Payload, stopping?: AbortSignal) => Promise<void>
type GiveUp<Context, Payload> = (context: Context, payload: Payload, cause: GiveUpCause) => Promise<void>

/** A kind of background job. `Context` is what the program passes to every job. */
export type Job<Context, Payload = unknown> = {
  /** `slice.verb-noun`. It is stored with every queued job, so it never changes. */
  readonly name: string
  /** Ids only. A job whose payload does not match this schema fails. */
  readonly payload: PayloadSchema<Payload>
  /**
   * How often the job may fail (throw) before it is given up; retries have an exponential
   * backoff. A mistake of a user is not a failure: it ends in a state that the user can see.
   */
  readonly attemptsMax: number
  /**
   * `interactive`, the default, starts before `bulk`, which is for work that nobody waits for and
   * leaves half of the slots of a worker free. Within a class, organizations take turns.
   */
  readonly class?: JobClass
  /**
   * Whom the job asks and waits for outside of the database, such as a code host or the policies.
   * It runs in slots of its own, of which each organization has some for each that it waits for
   * (of `formatLoneParty`: one), so that one who does not answer holds up nothing else. If it
   * fails with an error that has `retryAt`, it waits until then. Absent for work on the database.
   * Work of the system that may take long has a name here too, so that it holds up no organization.
   */
  readonly waitsFor?: (payload: Payload) => string
  /**
   * Of the jobs of an organization and class, those with the lowest number start first; the default
   * is 0. Work that follows an import has a higher one.
   */
  readonly priority?: number
  /**
   * Jobs with the same key are one while they wait: queued twice before it starts, the job runs
   * once.
   */
  readonly once?: (payload: Payload) => string
  /**
   * Must be safe to run twice. `stopping` is aborted when the worker stops: a job that takes long
   * then rolls back and throws, and is run again from the start, without having used up a try.
   */
  readonly run: Run<Context, Payload>
  /**
   * Called when the job will not be tried again, so that nothing waits for it. Must be safe to call
   * twice.
   */
  readonly giveUp?: GiveUp<Context, Payload>
}

/** Work that is lazy is loaded by the first job that runs it. */
type JobDefinition<Context, Payload> = Omit<Job<Context, Payload>, 'name' | 'run' | 'giveUp'> & {
  readonly run: Run<Context, Payload> | Lazy<Promise<Run<Context, Payload>>>
  readonly giveUp?: GiveUp<Context, Payload> | Lazy<Promise<GiveUp<Context, Payload>>>
  /** The live updates that are sent when the job has run. */
  readonly updates?: (payload: Payload) => readonly Update[]
}

/** What the names of lone parties begin with. */
export const LONE = 'alone '

/**
 * Names one, such as a code host, whom no more than one job of an organization asks at a time: what
 * waits for it waits in the queue.
 */
export function formatLoneParty(party: string): string {
  return `${LONE}${party}`
}

/** Defines a job. jobs.ts lists each one. */
export function defineJob<Context, Payload extends object>(
  name: string,
  { run, giveUp, updates, ...definition }: JobDefinition<Context, Payload>,
): Job<Context, Payload> {
  const loaded = whenLoaded(run)
  return {
    ...definition,
    name,
    run: updates ? withUpdates(loaded, updates) : loaded,
    ...(giveUp && { giveUp: whenLoaded(giveUp) }),
  }
}

function whenLoaded<Args extends unknown[]>(
  work: ((...args: Args) => Promise<void>) | Lazy<Promise<(...args: Args) => Promise<void>>>,
): (...args: Args) => Promise<void> {
  if (!('isLazy' in work)) return work
  return async (...args) => (await work())(...args)
}

/** What has changed is noted after the work, so that readers see it. */
function withUpdates<Context, Payload extends object>(
  run: Run<Context, Payload>,
  updates: (payload: Payload) => readonly Update[],
): Run<Context, Payload> {
  return async (context, payload, stopping) => {
    await run(context, payload, stopping)
    const { org_id } = payload as { org_id?: string }
    ;(context as { updates: UpdateFeed }).updates.note(org_id ?? EVERY_ORGANIZATION, updates(payload))
  }
}

/** A job that is started by the clock, once in the whole installation. */
export type ScheduledJob<Context> = Pick<Job<Context>, 'name' | 'class' | 'run'> & {
  /** As of other jobs. Bulk work that waits for nobody has a slot of its own, too. */
  readonly waitsFor?: string
  /** crontab(5) notation, in UTC. */
  readonly schedule: string
  /** Whether it also starts when a worker starts, because what is stored waits for it. */
  readonly startsWithWorker?: boolean
}

/** Defines a job that is started by the clock. jobs.ts lists each one. */
export function defineScheduledJob<Context>(
  name: string,
  definition: Omit<ScheduledJob<Context>, 'name'>,
): ScheduledJob<Context> {
  return { name, ...definition }
}

/** What identifies a job to the queue. */
type QueuedJob<Payload> = Pick<Job<never, Payload>, 'name' | 'class' | 'waitsFor' | 'attemptsMax' | 'priority' | 'once'>

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
  await insertJob(db, { ...toKind(job), ...getPlace(job, payload), payload, delayMs })
}

/** Queues a job in the same statement that writes something else. */
export async function enqueueWith<Payload extends object>(
  db: Db,
  written: ReturnType<Db>,
  job: QueuedJob<Payload>,
  payload: Payload,
): Promise<void> {
  await insertJob(db, { ...toKind(job), ...getPlace(job, payload), payload, delayMs: 0 }, written)
}

function getPlace<Payload>({ name, once, waitsFor }: QueuedJob<Payload>, payload: Payload) {
  return { key: once ? `${name} ${once(payload)}` : null, waitsFor: waitsFor?.(payload) ?? null }
}

type QueuedRows = Record<'payload' | 'once' | 'from', ReturnType<Db>> & { waitsFor?: string }

/**
 * The INSERT that queues a job for each row of `from`, as a part of a statement. `payload` is a
 * JSON expression of the row; `once` is a text expression with the value of the job's `once`, and
 * `waitsFor` the value of the job's, the same for all rows.
 */
export function enqueueRows<Payload extends object>(
  db: Db,
  job: Omit<QueuedJob<Payload>, 'waitsFor'>,
  { payload, once, from, waitsFor }: QueuedRows,
): ReturnType<Db> {
  const key = db`${`${job.name} `}::text || ${once}`
  const rows: ReturnType<Db> = db`select ${payload} as payload, ${key} as key from ${from}`
  return insertJobs(db, toKind(job), rows, { waitsFor: waitsFor ?? null })
}

function toKind({ name, class: jobClass, priority, attemptsMax }: Omit<QueuedJob<never>, 'waitsFor'>): NewJobKind {
  return {
    name,
    class: jobClass ?? 'interactive',
    priority: priority ?? 0,
    attempts_max: attemptsMax,
    ...getCurrentCause(),
  }
}
