import type { Db } from '../platform/db/sql.ts'
import { type Change, toMessages } from './change.ts'

/** PostgreSQL notifications on this channel carry changes of objects. */
export const CHANGE_CHANNEL = 'shiplock_changes'

/**
 * Notifies every process of changes when the caller's transaction commits. PostgreSQL commits
 * transactions with notifications one after the other, so hot transactions leave it to the
 * `ChangeFeed`.
 */
export async function notifyChanges(db: Db, orgId: string, changes: readonly Change[]): Promise<void> {
  const messages = toMessages(orgId, changes)
  if (messages.length === 0) return
  await db`
    select pg_notify(${CHANGE_CHANNEL}, message)
    from unnest(${messages}::text[]) message`
}

/**
 * Notifies every process of changes that are committed. It does not wait for the disk: a
 * notification that a crash of the database loses has no listeners either.
 */
export async function notifyCommitted(db: Db, messages: readonly string[]): Promise<void> {
  await db`
    select set_config('synchronous_commit', 'off', true), pg_notify(${CHANGE_CHANNEL}, message)
    from unnest(${[...messages]}::text[]) message`
}
