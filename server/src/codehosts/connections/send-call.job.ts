import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import { runDrainAlone } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { defineCounter } from '../../platform/metrics.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { defineJob, defineScheduledJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, OneOf, Optional, type PayloadOf, text } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import {
  type EndedStatus,
  type HostCall,
  insertCall,
  listDueSubjects,
  listPendingCalls,
  type PendingCall,
  type SubjectKey,
  updateCallEnded,
  updateCallPostponed,
  updateCallTried,
  updateSubjectPostponed,
} from './call.store.ts'
import { findConnection } from './connection.store.ts'
import { openClient } from './open-client.ts'

const ended = defineCounter(
  'shiplock_host_calls_total',
  'Calls that change something at a code host, by what they do and how they ended.',
  ['action', 'outcome'],
)

/** What is done after calls, whatever the host. */
const CALLS = 'calls'

type QueuedSubject = SubjectKey & { provider?: string }

/**
 * Sends the pending calls of a subject in the order in which they were requested. One process sends
 * the calls of a subject at a time. A call whose answer was lost is repeated.
 */
export const sendCalls = defineJob('codehosts.send-call', {
  waitsFor: ({ provider }) => formatLoneParty(provider ?? CALLS),
  payload: definePayload({ org_id: text, subject_type: text, subject_id: text, provider: Optional(text) }),
  attemptsMax: 10,
  once: subjectText,
  run: (services: Services, subject, stopping) =>
    runDrainAlone(services.sql, {
      key: `calls ${subjectText(subject)}`,
      drain: () => sendPending(services, subject, stopping),
      hasMore: async () => isAnyDue(services, await listPendingCalls(services.sql, subject)),
    }),
})

function subjectText({ org_id, subject_type, subject_id }: SubjectKey): string {
  return `${org_id} ${subject_type} ${subject_id}`
}

/** Every minute: queues the calls whose pause after a failed try is over. */
export const retryCalls = defineScheduledJob<Services>('codehosts.retry-calls', {
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    for (const subject of await listDueSubjects(sql, clock.now())) await enqueue(sql, sendCalls, subject)
  },
})

/** When one call is due, all are tried, so that their order stays the same after an outage. */
async function sendPending(services: Services, subject: QueuedSubject, stopping?: AbortSignal): Promise<void> {
  const { sql, clock } = services
  for (let calls = await listPendingCalls(sql, subject); isAnyDue(services, calls); ) {
    for (const call of calls) {
      stopping?.throwIfAborted()
      const retryAt = await send(services, subject, call)
      if (retryAt === null || !isHoldingBack(call, clock.now())) continue
      await updateSubjectPostponed(sql, subject, retryAt)
      return
    }
    calls = await listPendingCalls(sql, subject)
  }
}

function isAnyDue({ clock }: Services, calls: readonly PendingCall[]): boolean {
  return calls.some(({ next_try_at }) => next_try_at <= clock.now())
}

/** Tries a call once. Returns the time of its next try; null if it has ended. */
async function send(services: Services, subject: QueuedSubject, call: PendingCall): Promise<Date | null> {
  const { sql, clock, log } = services
  await updateCallTried(sql, call)
  try {
    await act(services, call)
  } catch (error) {
    const reason = (error as Error).message.slice(0, 500)
    if (error instanceof HostRefusal) return end(services, subject, call, { status: 'refused', error: reason })
    log.warn({ err: error, call: call.id, action: call.action.type }, 'Could not send a call to a code host')
    const retryAt = computeNextTry({ ...call, attempts: call.attempts + 1 }, clock.now())
    if (retryAt === null) return end(services, subject, call, { status: 'failed', error: reason })
    await updateCallPostponed(sql, call, reason, retryAt)
    await enqueue(sql, sendCalls, subject, retryAt.getTime() - clock.now().getTime())
    return retryAt
  }
  return end(services, subject, call, { status: 'done', error: null })
}

async function act(services: Services, { connection_id, action }: PendingCall): Promise<void> {
  const connection = await findConnection(services.sql, connection_id)
  const client = connection && (await openClient(services, connection))
  if (!client) throw new Error(`The connection is ${connection?.status ?? 'removed'}`)
  await client.act(action)
}

type CallEnd = { status: EndedStatus; error: string | null }

const AUDIT_ACTIONS = { refused: 'host_call.refuse', failed: 'host_call.fail' }

async function end(services: Services, subject: SubjectKey, call: PendingCall, result: CallEnd): Promise<null> {
  const now = services.clock.now()
  const { status, error } = result
  ended.inc({ action: call.action.type, outcome: status })
  await services.sql.begin(async (tx) => {
    if (!(await updateCallEnded(tx, call, result, now))) return
    await publish(tx, callEnded, { ...subject, call_id: call.id, outcome: status })
    if (status === 'done') return
    const { subject_type, subject_id } = subject
    const object = { type: 'host_call', id: call.id }
    const details = { subject_type, subject_id, action: call.action.type, error }
    const entry = { principal: SYSTEM, action: AUDIT_ACTIONS[status], object, reason: null, details }
    await insertAuditEntry(tx, call.org_id, entry, now)
  })
  return null
}

/** Published when a call has ended: accepted, refused by the host, or given up after 24 hours. */
export const callEnded = defineEvent('codehosts.call.ended', {
  waitsFor: () => CALLS,
  payload: definePayload({
    org_id: text,
    call_id: text,
    subject_type: text,
    subject_id: text,
    outcome: OneOf('done', 'refused', 'failed'),
  }),
  subject: ({ subject_type, subject_id }) => ({ type: subject_type, id: subject_id }),
  updates: () => [],
})

export type CallEnded = PayloadOf<typeof callEnded.payload>

const HOUR_MS = 60 * MINUTE_MS
const SECOND_MS = 1000
const PAUSES_MS = [5 * SECOND_MS, 15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS]
const PAUSE_MS_MAX = 2 * HOUR_MS

/**
 * When a call is tried again after its try number `attempts` failed. Null 24 hours after it was
 * requested; the last try is made at that time.
 */
export function computeNextTry(
  { attempts, created_at }: { attempts: number; created_at: Date },
  now: Date,
): Date | null {
  const lastMs = created_at.getTime() + DAY_MS
  if (now.getTime() >= lastMs) return null
  const pauseMs = PAUSES_MS[attempts - 1] ?? PAUSE_MS_MAX
  return new Date(Math.min(now.getTime() + pauseMs, lastMs))
}

/**
 * Whether later calls of the same subject wait for a call that failed. They do so for an hour, so
 * that a call that the host never accepts does not delay the others for a day.
 */
function isHoldingBack({ created_at }: { created_at: Date }, now: Date): boolean {
  return now.getTime() < created_at.getTime() + HOUR_MS
}

/**
 * Stores a call and queues its first try, in the transaction that decides on it. Returns the id of
 * the call. A repeated key has no effect, and returns null.
 */
export async function enqueueCall(tx: Tx, call: HostCall, now: Date): Promise<string | null> {
  const id = createUuid(now)
  if (!(await insertCall(tx, call, id, now))) return null
  const { org_id, subject } = call
  const { provider } = (await findConnection(tx, call.connection_id)) ?? {}
  const named = { org_id, subject_type: subject.type, subject_id: subject.id }
  await enqueue(tx, sendCalls, { ...named, ...(provider && { provider }) })
  return id
}
