import { setTimeout as delay } from 'node:timers/promises'
import { Value } from 'typebox/value'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { SlotClass } from './job.store.ts'
import { type Job, LONE, type ScheduledJob } from './job.ts'
import { getJobFields, givenUp, runJobTry } from './job-work.ts'
import {
  type AwaitedParty,
  deleteFinishedJob,
  lockNextJob,
  type Opening,
  type RunningJob,
  SYSTEM_ORGANIZATION,
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
 * The jobs that a worker has in progress: `concurrency` at most that work on the database, and
 * beside them those that ask others (`computeShares`). No organization has all slots.
 */
export class JobSlots<Context> {
  readonly #sql: Sql
  readonly #workerId: string
  readonly #options: SlotsOptions<Context>
  readonly #known: ReadonlyMap<string, (job: RunningJob) => Promise<void>>
  readonly #running = new Map<RunningJob, Promise<void>>()
  readonly #turns = new Turns()
  readonly #shares: Record<SlotClass, Share>
  readonly #stopping = new AbortController()
  #filling: Promise<void> | null = null
  #fillAgain = false
  /** A job may have been taken without an answer that says so. */
  #isUnsure = false
  /** How many jobs that ask others were taken since the last bulk one. */
  #outsideTurns = 0

  constructor(sql: Sql, workerId: string, options: SlotsOptions<Context>) {
    this.#sql = sql
    this.#workerId = workerId
    this.#options = options
    const { context, jobs, scheduled, concurrency } = options
    this.#shares = computeShares(concurrency)
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
    if (this.#stopping.signal.aborted) return null
    const openings = this.#listClasses().flatMap((slotClass) => this.#open(slotClass) ?? [])
    return lockNextJob(this.#sql, { workerId: this.#workerId, names: [...this.#known.keys()], openings })
  }

  /**
   * The last slot that interactive work leaves is for bulk work first. Of jobs that ask others,
   * bulk work is first now and then: a lone party is asked by one job of an organization at a time,
   * and imports come to an end although there is always an event.
   */
  #listClasses(): readonly SlotClass[] {
    const interactive = [...this.#running.keys()].filter((job) => job.class === 'interactive').length
    const isFull = interactive > 0 && interactive >= this.#options.concurrency - 1
    const isBulkTurn = this.#outsideTurns >= OUTSIDE_TURNS_MAX
    return [...(isFull ? LOCAL_BULK_FIRST : LOCAL), ...(isBulkTurn ? OUTSIDE_BULK_FIRST : OUTSIDE)]
  }

  /** What may be taken of a class next; null if it has no free slot. */
  #open(slotClass: SlotClass): Opening | null {
    const counts = COUNTED[slotClass].map((limiting) => {
      const jobs = [...this.#running.keys()].filter((job) => COUNTED[job.class].includes(limiting))
      return { jobs, share: this.#shares[limiting] }
    })
    if (counts.some(({ jobs, share }) => jobs.length >= share.all)) return null
    return {
      class: slotClass,
      turn: this.#turns.next(slotClass),
      full: counts.flatMap(({ jobs, share }) => listFull(jobs, share)),
      fullAwaited: [
        ...counts.flatMap(({ jobs, share }) => listFullAwaited(jobs, share.awaited)),
        ...listFullAwaited(this.#listAlone(), 1),
      ],
      fullParties: this.#listFullParties(),
    }
  }

  /** The jobs that ask somebody one at a time. */
  #listAlone(): RunningJob[] {
    return [...this.#running.keys()].filter(({ waits_for }) => waits_for?.startsWith(LONE))
  }

  /** Those whom so many organizations wait for that all others would have no slot. */
  #listFullParties(): string[] {
    const times = this.#shares.outside.all / 2
    const parties = Map.groupBy(this.#listAlone(), ({ waits_for }) => waits_for as string)
    return [...parties].flatMap(([party, jobs]) => (jobs.length >= times ? [party] : []))
  }

  async #start(job: RunningJob): Promise<void> {
    // It was taken while the worker was told to stop.
    if (this.#stopping.signal.aborted) return updateReturnedJob(this.#sql, this.#workerId, job.id)
    this.#turns.took(job)
    if (job.class === 'outside') this.#outsideTurns += 1
    if (job.class === 'outside_bulk') this.#outsideTurns = 0
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
    await this.#store(job, () =>
      updateFailedTry(this.#sql, { id: job.id, worker_id: this.#workerId }, { message, retryAt: getRetryAt(error) }),
    )
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

/**
 * How many jobs of a class run at once: all, of one organization, of the system, for one it waits
 * for.
 */
type Share = { all: number; organization: number; system: number; awaited: number }

const LOCAL: readonly SlotClass[] = ['interactive', 'bulk']
const LOCAL_BULK_FIRST: readonly SlotClass[] = ['bulk', 'interactive']
const OUTSIDE: readonly SlotClass[] = ['outside', 'outside_bulk']
const OUTSIDE_BULK_FIRST: readonly SlotClass[] = ['outside_bulk', 'outside']
const OUTSIDE_TURNS_MAX = 8

/** The classes whose shares a job counts in. Bulk work also takes slots of interactive work. */
const COUNTED: Record<SlotClass, readonly SlotClass[]> = {
  interactive: ['interactive'],
  bulk: ['interactive', 'bulk'],
  outside: ['outside'],
  outside_bulk: ['outside', 'outside_bulk'],
}

/** Jobs that ask others mostly wait, so that a worker can have more of them. */
const OUTSIDE_PER_SLOT = 8
const OUTSIDE_OF_ORGANIZATION = 8

/**
 * Bulk work has half of the slots at most, and interactive work leaves it one while there is some.
 * An organization has half of those of a class (but two slots in all) and the system a quarter, so
 * that beside a flood of either, others find one at once. Of those that ask others, an organization
 * has an eighth (but eight, where that is no more than half), and half of its share for each that
 * it waits for, so that one who hangs stops no other. Bulk work has half of all this. Each worker
 * keeps this by itself, so it holds for several. Whoever is asked by one job at a time has one slot
 * in all workers, and half of the slots of a worker with all organizations.
 */
function computeShares(concurrency: number): Record<SlotClass, Share> {
  const bulk = Math.ceil(concurrency / 2)
  const local = { system: Math.ceil(concurrency / 4), awaited: Number.POSITIVE_INFINITY }
  const all = concurrency * OUTSIDE_PER_SLOT
  const organization = Math.min(all / 2, Math.max(OUTSIDE_OF_ORGANIZATION, all / 8))
  const outside = { all, organization, system: all / 4, awaited: organization / 2 }
  return {
    interactive: { ...local, all: concurrency, organization: Math.max(2, bulk) },
    bulk: { ...local, all: bulk, organization: Math.ceil(bulk / 2) },
    outside,
    outside_bulk: {
      all: outside.all / 2,
      organization: outside.organization / 2,
      system: outside.system / 2,
      awaited: outside.awaited / 2,
    },
  }
}

/** When trying again can help, as the error says; null if it does not say. */
function getRetryAt(error: unknown): Date | null {
  const { retryAt } = Object(error) as { retryAt?: unknown }
  return retryAt instanceof Date ? retryAt : null
}

function getOrganization({ organization_id }: RunningJob): string {
  return organization_id ?? SYSTEM_ORGANIZATION
}

/** The organizations that have as many jobs as they may. */
function listFull(jobs: readonly RunningJob[], { organization, system }: Share): string[] {
  return [...Map.groupBy(jobs, getOrganization)].flatMap(([owner, own]) =>
    own.length >= (owner === SYSTEM_ORGANIZATION ? system : organization) ? [owner] : [],
  )
}

function listFullAwaited(jobs: readonly RunningJob[], times: number): AwaitedParty[] {
  const awaited = jobs.flatMap((job) =>
    job.waits_for === null ? [] : [JSON.stringify([getOrganization(job), job.waits_for])],
  )
  return [...Map.groupBy(awaited, (party) => party)].flatMap(([party, equal]) => {
    const [organization, waitsFor] = JSON.parse(party) as [string, string]
    return equal.length >= times ? [{ organization, waitsFor }] : []
  })
}

const FIRST: Turn = { afterOrganization: SYSTEM_ORGANIZATION, isSystemFirst: true, afterWaitedFor: '' }

/**
 * Whose turn it is to get a slot of a worker, for each class of jobs: the organizations one after
 * the other, and the system after each of them where they work on the database.
 */
export class Turns {
  readonly #turns: Record<SlotClass, Turn> = { interactive: FIRST, bulk: FIRST, outside: FIRST, outside_bulk: FIRST }

  next(slotClass: SlotClass): Turn {
    return this.#turns[slotClass]
  }

  took(job: Pick<RunningJob, 'class' | 'organization_id' | 'waits_for'>): void {
    const { afterOrganization } = this.#turns[job.class]
    const { organization_id, waits_for: waitedFor } = job
    this.#turns[job.class] =
      organization_id === null && waitedFor === null
        ? { afterOrganization, isSystemFirst: false, afterWaitedFor: '' }
        : {
            afterOrganization: organization_id ?? SYSTEM_ORGANIZATION,
            isSystemFirst: true,
            afterWaitedFor: waitedFor ?? '',
          }
  }
}
