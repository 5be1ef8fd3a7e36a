import type { Conclusion, Deployment, Job, Run } from '../types.ts'
import type { World } from '../world.ts'
import { lastAttempt, startJob } from './jobs.ts'
import { cancelRun, finishJob, type JobResult } from './progress.ts'
import { rerun } from './runs.ts'

/** A run that a test moves through its jobs. Jobs are named as in `startRun`. */
export class RunStory {
  readonly run: Run
  readonly #world: World

  constructor(world: World, run: Run) {
    this.#world = world
    this.run = run
  }

  get id(): number {
    return this.run.id
  }

  get status(): string {
    const { status, conclusion } = lastAttempt(this.run)
    return conclusion ?? status
  }

  /** A job of the newest attempt. */
  job(name: string): Job {
    const job = lastAttempt(this.run).jobs.find((one) => one.name === name)
    if (job === undefined) throw new Error(`Run ${this.id} has no job ${name}`)
    return job
  }

  deployment(jobName: string): Deployment {
    const { deployment } = this.job(jobName)
    if (deployment === null) throw new Error(`Job ${jobName} deploys nothing yet`)
    return deployment
  }

  start(jobName: string): this {
    startJob(this.#world, this.run, this.job(jobName))
    return this
  }

  /** Ends a job, and starts it first if it is still queued. */
  finish(jobName: string, conclusion: Conclusion = 'success', result: JobResult = {}): this {
    finishJob(this.#world, this.run, this.job(jobName), conclusion, result)
    return this
  }

  cancel(): this {
    cancelRun(this.#world, this.run)
    return this
  }

  rerun(actor: string, { failedOnly = false }: { failedOnly?: boolean } = {}): this {
    rerun(this.#world, this.run, actor, failedOnly)
    return this
  }
}
