import { type Principal, recordAudit } from '../../audit/audit.store.ts'
import { alreadyRemoved } from '../../errors/codehosts.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { invalidId, notFound } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { leaveConnection } from '../../repositories/followed-repository.store.ts'
import type { Services } from '../../services.ts'
import { type ConnectionName, type LiveConnection, lockConnection, markRemoved } from './connection.store.ts'

export type RemovedWebhooks = { connection_id: string }

/**
 * What queues the job that removes the webhooks of a connection. Its `run` is in the job itself.
 */
export const removeWebhooks = {
  name: 'codehosts.remove-webhooks',
  attemptsMax: 8,
  once: ({ connection_id }: RemovedWebhooks) => connection_id,
}

/** The connection to remove; of the organization if one is given. */
type RemovedConnection = { id: string; org_id?: string }

/**
 * Ends a connection. Its repositories keep their names and their history. Later events of the
 * installation are stored and wait. Throws 400, 404, and 409 if the connection is already removed.
 */
export async function disconnect(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { id, org_id }: RemovedConnection,
  principal: Principal,
): Promise<LiveConnection> {
  if (!isUuid(id.toLowerCase())) throw invalidId(id, 'connection')
  return sql.begin(async (tx) => {
    const connection = await lockConnection(tx, id.toLowerCase())
    if (!connection || (org_id !== undefined && connection.org_id !== org_id)) throw notFound('connection')
    if (connection.status === 'removed') throw alreadyRemoved(connection.account_login)
    await removeConnection(tx, connection, principal, clock.now())
    return connection
  })
}

/** Removes a connection that the caller has locked, and records it. */
export async function removeConnection(
  tx: Tx,
  connection: ConnectionName,
  principal: Principal,
  now: Date,
): Promise<void> {
  const { org_id, id, provider, host, installation_id } = connection
  await markRemoved(tx, id)
  await leaveConnection(tx, org_id, id, null)
  await enqueue(tx, removeWebhooks, { connection_id: id })
  const entry = { principal, action: 'connection.remove', object: { type: 'connection', id }, reason: null }
  await recordAudit(tx, org_id, { ...entry, details: { provider, host, installation_id } }, now)
}
