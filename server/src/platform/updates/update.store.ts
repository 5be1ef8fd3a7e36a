import type { Db } from '../db/sql.ts'
import { toMessages, type Update } from './update.ts'

/** PostgreSQL notifications on this channel carry live updates. */
export const UPDATE_CHANNEL = 'shiplock_changes'

/**
 * Notifies every process of updates when the caller's transaction commits. PostgreSQL commits
 * transactions with notifications one after the other, so hot transactions leave it to the
 * `UpdateFeed`.
 */
export async function notifyUpdates(db: Db, orgId: string, updates: readonly Update[]): Promise<void> {
  const messages = toMessages(orgId, updates)
  if (messages.length === 0) return
  await db`
    select pg_notify(${UPDATE_CHANNEL}, message)
    from unnest(${messages}::text[]) message`
}

/**
 * Notifies every process of what committed transactions have changed. It does not wait for the
 * disk: a notification that a crash of the database loses has no listeners either.
 */
export async function notifyCommitted(db: Db, messages: readonly string[]): Promise<void> {
  await db`
    select set_config('synchronous_commit', 'off', true), pg_notify(${UPDATE_CHANNEL}, message)
    from unnest(${[...messages]}::text[]) message`
}
