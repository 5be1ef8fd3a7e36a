import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { type HostCall, insertCall } from './call.store.ts'
import { sendCalls } from './send-call.job.ts'

/**
 * Stores a call and queues its first try, in the transaction that decides on it. Returns the id of
 * the call. A repeated key has no effect, and returns null.
 */
export async function enqueueCall(tx: Tx, call: HostCall, now: Date): Promise<string | null> {
  const id = createUuid(now)
  if (!(await insertCall(tx, call, id, now))) return null
  const { org_id, subject } = call
  await enqueue(tx, sendCalls, { org_id, subject_type: subject.type, subject_id: subject.id })
  return id
}
