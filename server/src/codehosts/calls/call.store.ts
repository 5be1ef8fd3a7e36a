import type { Db, Tx } from '../../platform/db/sql.ts'
import type { HostAction } from '../code-host.ts'

/** What a call is about. Its slice is told when the call ends. */
export type CallSubject = { type: 'deployment' | 'alert' | 'commit'; id: string }

export type HostCall = {
  org_id: string
  connection_id: string
  /** The same key again is the same call. */
  idempotency_key: string
  subject: CallSubject
  action: HostAction
}

export async function insertCall(tx: Tx, call: HostCall, id: string, now: Date): Promise<void> {
  await tx`
    insert into codehost_calls (
      org_id, id, connection_id, idempotency_key, subject_type, subject_id, action, status, next_try_at, created_at
    )
    values (
      ${call.org_id}, ${id}, ${call.connection_id}, ${call.idempotency_key}, ${call.subject.type}, ${call.subject.id},
      ${tx.json(call.action as never)}, 'pending', ${now}, ${now}
    )
    on conflict (org_id, idempotency_key) do nothing`
}

/** The idempotency key of a call; null if the call does not exist. */
export async function findCallKey(db: Db, orgId: string, callId: string): Promise<string | null> {
  const [row] = await db<{ idempotency_key: string }[]>`
    select idempotency_key
    from codehost_calls
    where org_id = ${orgId}
      and id = ${callId}`
  return row?.idempotency_key ?? null
}
