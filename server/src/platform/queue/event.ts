import type { TSchema } from 'typebox'
import type { Db } from '../db/sql.ts'
import { enqueue } from './enqueue.ts'
import type { Job } from './job.ts'

/** News of a slice for those above it: they may know it, it may not know them. Named `slice.noun.past-tense`. */
export type Event<Payload extends object> = {
  name: string
  payload: TSchema
  /** News for which this is the same wait as one, as with jobs. */
  once?(payload: Payload): string
  readonly carries?: Payload
}

const ATTEMPTS_MAX = 10

/** Publishes in the transaction that causes the news: both happen or neither. */
export async function publish<Payload extends object>(db: Db, event: Event<Payload>, payload: Payload): Promise<void> {
  const { once } = event
  await enqueue(db, { name: taskOf(event), attemptsMax: ATTEMPTS_MAX, ...(once && { once }) }, payload)
}

/**
 * All that hear of an event, in the order in which they are told; listed in jobs.ts, each event once. May be told twice,
 * where one after them failed, and must not mind.
 */
export function subscribe<Context, Payload extends object>(
  event: Event<Payload>,
  ...told: ((context: Context, payload: Payload) => Promise<void>)[]
): Job<Context, Payload> {
  return {
    name: taskOf(event),
    payload: event.payload,
    attemptsMax: ATTEMPTS_MAX,
    run: async (context, payload) => {
      for (const run of told) await run(context, payload)
    },
  }
}

function taskOf(event: { name: string }): string {
  return `event ${event.name}`
}
