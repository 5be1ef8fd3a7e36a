import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'
import type { Db, Sql, Tx } from '../../platform/db/sql.ts'
import type { HostAction } from '../code-host.ts'

/** What a call is about. Its slice is told when the call ends. */
type CallSubject = { type: 'deployment' | 'alert' | 'commit'; id: string }

/** Names the subject of calls in all organizations. */
export type SubjectKey = { org_id: string; subject_type: string; subject_id: string }

export type HostCall = {
  org_id: string
  connection_id: string
  /** The same key again is the same call. */
  idempotency_key: string
  subject: CallSubject
  action: HostAction
}

/** A call that has not ended. */
export type PendingCall = {
  org_id: string
  id: string
  connection_id: string
  action: HostAction
  attempts: number
  created_at: Date
  next_try_at: Date
}

export type EndedStatus = 'done' | 'refused' | 'failed'

/** False if the key is known: then nothing changes. */
export async function insertCall(tx: Tx, call: HostCall, id: string, now: Date): Promise<boolean> {
  const inserted = await tx`
    insert into codehost_calls (
      org_id, id, connection_id, idempotency_key, subject_type, subject_id, action, status, next_try_at, created_at
    )
    values (
      ${call.org_id}, ${id}, ${call.connection_id}, ${call.idempotency_key}, ${call.subject.type}, ${call.subject.id},
      ${tx.json(call.action as never)}, 'pending', ${now}, ${now}
    )
    on conflict (org_id, idempotency_key) do nothing
    returning id`
  return inserted.length > 0
}

const CALLS_LISTED_MAX = 100

/** The pending calls of a subject, in the order in which they were requested. */
export async function listPendingCalls(sql: Sql, subject: SubjectKey): Promise<PendingCall[]> {
  return sql<PendingCall[]>`
    select org_id, id, connection_id, action, attempts, created_at, next_try_at
    from codehost_calls
    where org_id = ${subject.org_id}
      and subject_type = ${subject.subject_type}
      and subject_id = ${subject.subject_id}
      and status = 'pending'
    order by number
    limit ${CALLS_LISTED_MAX}`
}

const SUBJECTS_LISTED_MAX = 1000

/** Subjects with calls that are due. */
export async function listDueSubjects(sql: Sql, now: Date): Promise<(SubjectKey & { provider: string })[]> {
  return sql<(SubjectKey & { provider: string })[]>`
    select call.org_id, subject_type, subject_id, min(connection.provider) as provider
    from codehost_calls call
    join codehost_connections connection on connection.org_id = call.org_id and connection.id = call.connection_id
    where call.status = 'pending'
      and next_try_at <= ${now}
    group by call.org_id, subject_type, subject_id
    order by min(next_try_at)
    limit ${SUBJECTS_LISTED_MAX}`
}

type CallKey = { org_id: string; id: string }

/** Counts a try before it is made. */
export async function updateCallTried(sql: Sql, { org_id, id }: CallKey): Promise<void> {
  await sql`
    update codehost_calls
    set attempts = attempts + 1
    where org_id = ${org_id}
      and id = ${id}`
}

/** Schedules the next try of a call that failed. */
export async function updateCallPostponed(
  sql: Sql,
  { org_id, id }: CallKey,
  error: string,
  nextTryAt: Date,
): Promise<void> {
  await sql`
    update codehost_calls
    set error = ${error},
      next_try_at = ${nextTryAt}
    where org_id = ${org_id}
      and id = ${id}
      and status = 'pending'`
}

/** The pending calls of a subject are not tried before this time. */
export async function updateSubjectPostponed(sql: Sql, subject: SubjectKey, until: Date): Promise<void> {
  await sql`
    update codehost_calls
    set next_try_at = ${until}
    where org_id = ${subject.org_id}
      and subject_type = ${subject.subject_type}
      and subject_id = ${subject.subject_id}
      and status = 'pending'
      and next_try_at < ${until}`
}

type CallEnd = { status: EndedStatus; error: string | null }

/** False if the call has already ended. */
export async function updateCallEnded(tx: Tx, { org_id, id }: CallKey, end: CallEnd, now: Date): Promise<boolean> {
  const ended = await tx`
    update codehost_calls
    set status = ${end.status},
      error = ${end.error},
      next_try_at = null,
      ended_at = ${now}
    where org_id = ${org_id}
      and id = ${id}
      and status = 'pending'
    returning id`
  return ended.length > 0
}

/**
 * The numbers of calls that have failed or were refused since a time, and of calls that are tried
 * again.
 */
export async function countCalls(sql: Sql, since: Date): Promise<{ failed: number; refused: number; retried: number }> {
  const [row] = await sql<[{ failed: number; refused: number; retried: number }]>`
    select
      count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'refused')::int as refused,
      (select count(*) from codehost_calls where status = 'pending' and attempts > 0)::int as retried
    from codehost_calls
    where status in ('failed', 'refused')
      and ended_at >= ${since}`
  return row
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

type PendingCalls = { action: HostAction['type']; pending: number; oldest_at: Date }

/** The calls that have not ended, by what they do. */
export async function countPendingCalls(sql: Sql): Promise<PendingCalls[]> {
  return sql<PendingCalls[]>`
    select action ->> 'type' as action, count(*)::int as pending, min(created_at) as oldest_at
    from codehost_calls
    where status = 'pending'
    group by action ->> 'type'
    order by action
    limit 100`
}

/** Calls of code hosts that have ended. */
export const expiringCalls = defineExpiringRows({
  kind: 'codehost_calls',
  table: 'codehost_calls',
  key: ['id'],
  order: 'created_at',
  isExpired: (db, { before }) => db`item.created_at < ${before} and item.status <> 'pending'`,
})
