import { setTimeout as delay } from 'node:timers/promises'
import { Value } from 'typebox/value'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { JobClass } from './job.store.ts'
import type { Job, ScheduledJob } from './job.ts'
import { getJobFields, givenUp, runJobTry } from './job-work.ts'
import {
  deleteFinishedJob,
  lockNextJob,
  type RunningJob,
  type Turn,
  updateFailedTry,
  updateReturnedJob,
  updateReturnedJobs,
} from './running-jobs.store.ts'

export type SlotsOptions<Context> = {
  context: Context
  jobs: readonly Job<Context, never>[]
  scheduled: readonly ScheduledJob<Context>[]
  log: Log
  concurrency: number
}

const RETRY_MS = 1000

/**
 * The jobs that a worker has in progress, `concurrency` at most. Bulk work leaves one slot free, so
 * that the next interactive job finds it.
 */
export class JobSlots<Context> {
  readonly #sql: Sql
  readonly #workerId: string
  readonly #options: SlotsOptions<Context>
  readonly #known: ReadonlyMap<string, (job: RunningJob) => Promise<void>>
  readonly #running = new Map<RunningJob, Promise<void>>()
  readonly #turns = new Turns()
  readonly #stopping = new AbortController()
  #filling: Promise<void> | null = null
  #fillAgain = false
  /** A job may have been taken without an answer that says so. */
  #isUnsure = false

  constructor(sql: Sql, workerId: string, options: SlotsOptions<Context>) {
    this.#sql = sql
    this.#workerId = workerId
    this.#options = options
    const { context, jobs, scheduled } = options
    this.#known = new Map([
      ...jobs.map((job) => [job.name, (taken: RunningJob) => this.#try(job, taken)] as const),
      ...scheduled.map(({ name, run }) => [name, () => run(context, {}, this.#stopping.signal)] as const),
    ])
  }

  /** Takes jobs until the slots are full or no job is left. */
  fill(): Promise<void> {
    this.#fillAgain = true
    this.#filling ??= this.#fillAll()
    return this.#filling
  }

  async #fillAll(): Promise<void> {
    try {
      while (this.#fillAgain) {
        this.#fillAgain = false
        if (this.#isUnsure) await this.#returnStray()
        for (let job = await this.#take(); job !== null; job = await this.#take()) await this.#start(job)
      }
    } catch (err) {
      this.#isUnsure = true
      this.#options.log.warn({ err, queue: true }, 'Could not take jobs; trying again')
    } finally {
      this.#filling = null
    }
  }

  async #returnStray(): Promise<void> {
    await updateReturnedJobs(
      this.#sql,
      this.#workerId,
      Array.from(this.#running.keys(), ({ id }) => id),
    )
    this.#isUnsure = false
  }

  async #take(): Promise<RunningJob | null> {
    for (const jobClass of this.#openClasses()) {
      const turn = this.#turns.next(jobClass)
      const names = [...this.#known.keys()]
      const job = await lockNextJob(this.#sql, { workerId: this.#workerId, names, class: jobClass, turn })
      if (job !== null) return job
    }
    return null
  }

  /** The classes of which another job fits in, the first one first. */
  #openClasses(): JobClass[] {
    const { concurrency } = this.#options
    if (this.#stopping.signal.aborted || this.#running.size >= concurrency) return []
    const bulk = Array.from(this.#running.keys()).filter((job) => job.class === 'bulk').length
    return bulk < Math.max(1, concurrency - 1) ? ['interactive', 'bulk'] : ['interactive']
  }

  async #start(job: RunningJob): Promise<void> {
    // It was taken while the worker was told to stop.
    if (this.#stopping.signal.aborted) return updateReturnedJob(this.#sql, this.#workerId, job.id)
    this.#turns.took(job)
    const done = this.#work(job).finally(() => {
      this.#running.delete(job)
      void this.fill()
    })
    this.#running.set(job, done)
  }

  async #work(job: RunningJob): Promise<void> {
    const { signal } = this.#stopping
    const run = this.#known.get(job.name) as (job: RunningJob) => Promise<void>
    try {
      await runJobTry(
        job,
        () => signal.aborted,
        () => run(job),
      )
    } catch (err) {
      return this.#endTry(job, err)
    }
    await this.#store(job, () => deleteFinishedJob(this.#sql, this.#workerId, job.id))
  }

  async #try(job: Job<Context, never>, { payload, attempts, attempts_max }: RunningJob): Promise<void> {
    const { context } = this.#options
    const { signal } = this.#stopping
    try {
      Value.Assert(job.payload, payload)
      await job.run(context, payload as never, signal)
    } catch (error) {
      if (attempts >= attempts_max && !signal.aborted) {
        givenUp.inc({ task: job.name })
        await job.giveUp?.(context, payload as never, { cause: 'failed' })
      }
      throw error
    }
  }

  /** A try that ends because the worker stops is not counted. */
  async #endTry(job: RunningJob, error: unknown): Promise<void> {
    if (this.#stopping.signal.aborted)
      return this.#store(job, () => updateReturnedJob(this.#sql, this.#workerId, job.id))
    const message = error instanceof Error ? error.message : String(error)
    const about = {
      err: error,
      queue: true,
      ...getJobFields(job),
      attempt: job.attempts,
      attempts_max: job.attempts_max,
    }
    this.#options.log.error(about, 'A try of a job failed')
    await this.#store(job, () => updateFailedTry(this.#sql, this.#workerId, job.id, message))
  }

  /**
   * Stores how a try ended as soon as the database can be reached. If the worker stops before that,
   * the job is lost with it.
   */
  async #store(job: RunningJob, write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write()
      } catch (err) {
        if (this.#stopping.signal.aborted) return
        this.#options.log.warn(
          { err, queue: true, ...getJobFields(job) },
          'Could not store the end of a job; trying again',
        )
        await delay(RETRY_MS, undefined, { ref: false })
      }
    }
  }

  /** Takes no more jobs, and tells those in progress to stop. Resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The worker is stopping'))
    await this.#filling
    await Promise.all(this.#running.values())
  }
}

const FIRST: Turn = { afterOrganization: '00000000-0000-0000-0000-000000000000', isSystemFirst: true }

/**
 * Whose turn it is to get a slot of a worker, for each class of jobs: the organizations one after
 * the other, and the system after each of them.
 */
export class Turns {
  readonly #turns: Record<JobClass, Turn> = { interactive: FIRST, bulk: FIRST }

  next(jobClass: JobClass): Turn {
    return this.#turns[jobClass]
  }

  took({ class: jobClass, organization_id }: Pick<RunningJob, 'class' | 'organization_id'>): void {
    const { afterOrganization } = this.#turns[jobClass]
    this.#turns[jobClass] =
      organization_id === null
        ? { afterOrganization, isSystemFirst: false }
        : { afterOrganization: organization_id, isSystemFirst: true }
  }
}
