import type { TSchema } from 'typebox'

/** What a job runs with: whatever the program gives all of them. */
export type Job<Context, Payload = unknown> = {
  /** `slice.verb-noun`; stored with every queued job, so it never changes. */
  name: string
  /** Ids only. A payload that does not fit is a defect and is not retried. */
  payload: TSchema
  /** Tries in all, with growing pauses between them, where the machine fails. A user's mistake is no failure: it ends in a state. */
  attemptsMax: number
  /** Jobs for which this is the same wait as one: queued twice before it starts, it runs once. */
  once?(payload: Payload): string
  /** May run twice and must not mind. */
  run(context: Context, payload: Payload): Promise<void>
  /** Called once when the last try has failed, so that nobody waits for a job that will not come. */
  giveUp?(context: Context, payload: Payload): Promise<void>
}

/** A job that runs by the clock, once in the whole installation. */
export type ScheduledJob<Context> = Pick<Job<Context>, 'name' | 'run'> & {
  /** crontab(5) notation, in UTC. */
  schedule: string
}
