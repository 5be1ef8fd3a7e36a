import { type AuditEntry, insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { runDrainAlone } from '../../platform/db/advisory-lock.ts'
import { publish } from '../../platform/queue/event.ts'
import { defineJob, defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { defineCounter } from '../../platform/telemetry/metrics.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import { findConnection } from '../connections/connection.store.ts'
import { openClient } from '../connections/open-client.ts'
import { callEnded } from './call.events.ts'
import {
  type EndedStatus,
  listDueSubjects,
  listPendingCalls,
  type PendingCall,
  type SubjectKey,
  updateCallEnded,
  updateCallPostponed,
  updateCallTried,
  updateSubjectPostponed,
} from './call.store.ts'
import { computeNextTry, isHoldingBack } from './call-retry.ts'

const ended = defineCounter(
  'shiplock_host_calls_total',
  'Calls that change something at a code host, by what they do and how they ended.',
  ['action', 'outcome'],
)

/**
 * Sends the pending calls of a subject in the order in which they were requested. One process sends
 * the calls of a subject at a time. A call whose answer was lost is repeated.
 */
export const sendCalls = defineJob('codehosts.send-call', {
  payload: definePayload({ org_id: text, subject_type: text, subject_id: text }),
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
async function sendPending(services: Services, subject: SubjectKey, stopping?: AbortSignal): Promise<void> {
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
async function send(services: Services, subject: SubjectKey, call: PendingCall): Promise<Date | null> {
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
    if (status !== 'done')
      await insertAuditEntry(tx, call.org_id, auditEntry(AUDIT_ACTIONS[status], subject, call, error), now)
  })
  return null
}

function auditEntry(action: string, subject: SubjectKey, call: PendingCall, error: string | null): AuditEntry {
  const { subject_type, subject_id } = subject
  const object = { type: 'host_call', id: call.id }
  const details = { subject_type, subject_id, action: call.action.type, error }
  return { principal: SYSTEM, action, object, reason: null, details }
}
