import type { TSchema } from 'typebox'
import type { Db } from '../db/sql.ts'
import type { Job } from './job.ts'
import { enqueue } from './job.ts'

/**
 * Something that happened in a slice. Slices above it subscribe without the slice knowing them. The
 * name is `slice.noun.past-tense`.
 */
export type Event<Payload extends object> = {
  name: string
  payload: TSchema
  class?: Job<never>['class']
  /** Events with the same key are one while they wait, as with jobs. */
  once?(payload: Payload): string
  /** Never set: it ties the event's type to its payload's. */
  readonly carries?: Payload
}

const ATTEMPTS_MAX = 10

/** Publishes an event in the caller's transaction: the change and its event are stored together. */
export async function publish<Payload extends object>(db: Db, event: Event<Payload>, payload: Payload): Promise<void> {
  await enqueue(db, { ...queued(event), attemptsMax: ATTEMPTS_MAX }, payload)
}

/**
 * The job that calls every subscriber of an event, in the given order. jobs.ts lists each event
 * once. When a subscriber fails, all of them are called again, so each must be safe to call twice.
 */
export function subscribe<Context, Payload extends object>(
  event: Event<Payload>,
  ...subscribers: ((context: Context, payload: Payload) => Promise<void>)[]
): Job<Context, Payload> {
  return {
    ...queued(event),
    payload: event.payload,
    attemptsMax: ATTEMPTS_MAX,
    run: async (context, payload) => {
      for (const notify of subscribers) await notify(context, payload)
    },
  }
}

type Queued<Payload> = Pick<Job<never, Payload>, 'name' | 'class' | 'once'>

function queued<Payload extends object>({ name, class: jobClass, once }: Event<Payload>): Queued<Payload> {
  return { name: `event ${name}`, ...(jobClass && { class: jobClass }), ...(once && { once }) }
}
