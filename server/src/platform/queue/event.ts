import type { TSchema } from 'typebox'
import type { Db } from '../db/sql.ts'
import { enqueue } from './enqueue.ts'
import type { Job } from './job.ts'

/** News of a slice for those above it: they may know it, it may not know them. Named `slice.noun.past-tense`. */
export type Event<Payload extends object> = { name: string; payload: TSchema; readonly carries?: Payload }

const ATTEMPTS_MAX = 10

/** Publishes in the transaction that causes the news: both happen or neither. */
export async function publish<Payload extends object>(db: Db, event: Event<Payload>, payload: Payload): Promise<void> {
  await enqueue(db, { name: taskOf(event), attemptsMax: ATTEMPTS_MAX }, payload)
}

/** What hears of an event; listed in jobs.ts. May be told twice and must not mind. One subscriber an event. */
export function subscribe<Context, Payload extends object>(
  event: Event<Payload>,
  run: (context: Context, payload: Payload) => Promise<void>,
): Job<Context, Payload> {
  return { name: taskOf(event), payload: event.payload, attemptsMax: ATTEMPTS_MAX, run }
}

function taskOf(event: { name: string }): string {
  return `event ${event.name}`
}
