import { DAY_MS } from '../clock.ts'
import { defineExpiringRows } from '../db/expiring-rows.ts'
import type { Db } from '../db/sql.ts'
import { defineJob, enqueue, enqueueWith, type Job } from './job.ts'
import type { PayloadSchema } from './payload.ts'
import type { Update } from './update.ts'

/** What an event is about. `id` is null where it is about several objects. */
type Subject = { type: string; id: string | null; repository?: string; url?: string }

/** Who caused an event. */
type EventActor = { type: string; id: string | null; name: string }

type EventDefinition<Payload extends object> = {
  /** Its ids. A payload with `org_id` is that of an event of one organization. */
  readonly payload: PayloadSchema<Payload>
  /** The live updates that are sent when all subscribers have been called. */
  readonly updates: (payload: Payload) => readonly Update[]
  readonly subject: (payload: Payload) => Subject
  /** Events with the same key have one job while it waits, as with jobs. */
  readonly once?: (payload: Payload) => string
  /** The class of the job that calls its subscribers, and whom they wait for. */
  readonly class?: Job<never>['class']
  readonly waitsFor?: (payload: Payload) => string
}

/**
 * Something that happened in a slice. Slices above it subscribe without the slice knowing them.
 */
export type Event<Payload extends object> = EventDefinition<Payload> & {
  /**
   * `noun.past-tense` where the catalogue of events has it (specification, "Events");
   * `slice.noun.past-tense` for what only slices hear of.
   */
  readonly name: string
}

export function defineEvent<Payload extends object>(
  name: string,
  definition: EventDefinition<Payload>,
): Event<Payload> {
  return { name, ...definition }
}

const ATTEMPTS_MAX = 10
const VERSION = 1

/** What is known of an event besides its payload. */
type Circumstances = { actor?: EventActor; previous?: object }

/**
 * Publishes an event in the caller's transaction: the change, the event's row and the job that
 * calls its subscribers are stored together. An event that concerns every organization has a job
 * only, because each row belongs to one organization.
 */
export async function publish<Payload extends object>(
  db: Db,
  published: Event<Payload>,
  payload: Payload,
  circumstances: Circumstances = {},
): Promise<void> {
  const queued = toQueued(published)
  const { org_id } = payload as { org_id?: string }
  if (org_id === undefined) return enqueue(db, queued, payload)
  await enqueueWith(db, insertion(db, org_id, published, { payload, ...circumstances }), queued, payload)
}

/** SQL: stores the row of an event, in the shape in which events are told to others. */
function insertion<Payload extends object>(
  db: Db,
  orgId: string,
  { name, subject }: Event<Payload>,
  { payload, actor, previous }: Circumstances & { payload: Payload },
): ReturnType<Db> {
  const { org_id: _, ...data } = payload as { org_id?: string }
  const { type, id, repository = null, url = null } = subject(payload)
  const about = { type, id, repository, url }
  return db`
    insert into events (org_id, type, version, actor, subject, data, previous)
    values (
      ${orgId}, ${name}, ${VERSION}, ${actor ? db.json(actor) : null}, ${db.json(about)}, ${db.json(data)},
      ${previous ? db.json(previous as never) : null}
    )`
}

/**
 * The job that calls every subscriber of an event, in the given order. jobs.ts lists each event
 * once. When a subscriber fails, all of them are called again, so each must be safe to call twice.
 */
export function subscribe<Context, Payload extends object>(
  subscribed: Event<Payload>,
  ...subscribers: ((context: Context, payload: Payload) => Promise<void>)[]
): Job<Context, Payload> {
  const { name, ...queued } = toQueued(subscribed)
  return defineJob<Context, Payload>(name, {
    ...queued,
    payload: subscribed.payload,
    run: async (context, payload) => {
      for (const notify of subscribers) await notify(context, payload)
    },
    updates: subscribed.updates,
  })
}

function toQueued<Payload extends object>({ name, class: jobClass, waitsFor, once }: Event<Payload>) {
  return {
    name: `event ${name}`,
    attemptsMax: ATTEMPTS_MAX,
    ...(jobClass && { class: jobClass }),
    ...(waitsFor && { waitsFor }),
    ...(once && { once }),
  }
}

/** Events are kept for as long in every plan. */
export const EVENTS_KEPT_MS = 30 * DAY_MS

export const expiringEvents = defineExpiringRows({
  kind: 'events',
  table: 'events',
  key: ['created_at', 'id'],
  order: 'created_at',
  isExpired: (db, { before }) => db`item.created_at < ${before}`,
})
