import type { Tx } from '../../platform/db/sql.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Event } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { payloadOf } from '../../platform/queue/payload.ts'
import { type HostCall, insertCall, type SubjectKey } from './call.store.ts'

/** Published when a call has ended: accepted, refused by the host, or given up after 24 hours. */
export const callEnded: Event<{
  org_id: string
  call_id: string
  subject_type: string
  subject_id: string
  outcome: 'done' | 'refused' | 'failed'
}> = {
  name: 'codehosts.call.ended',
  payload: payloadOf('org_id', 'call_id', 'subject_type', 'subject_id', 'outcome'),
}

/** What queues the job that sends the calls of a subject. Its `run` is in the job itself. */
export const sendCalls = {
  name: 'codehosts.send-call',
  payload: payloadOf('org_id', 'subject_type', 'subject_id'),
  attemptsMax: 10,
  once: ({ org_id, subject_type, subject_id }: SubjectKey) => `${org_id} ${subject_type} ${subject_id}`,
}

/**
 * Stores a call and queues its first try, in the transaction that decides on it. Returns the id of
 * the call. A repeated key has no effect, and returns null.
 */
export async function requestCall(tx: Tx, call: HostCall, now: Date): Promise<string | null> {
  const id = newUuid(now)
  if (!(await insertCall(tx, call, id, now))) return null
  const { org_id, subject } = call
  await enqueue(tx, sendCalls, { org_id, subject_type: subject.type, subject_id: subject.id })
  return id
}
