import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { alreadyRemoved } from '../../errors/codehosts.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, Optional, text } from '../../platform/queue/payload.ts'
import { updateToDisconnected } from '../../repositories/followed-repository.store.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import {
  type ConnectionName,
  findConnection,
  type LiveConnection,
  lockConnection,
  updateConnectionRemoved,
} from './connection.store.ts'
import { formatWebhookAddress } from './connection-secrets.ts'

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
  if (!isUuid(id.toLowerCase())) throw createInvalidIdError(id, 'connection')
  return sql.begin(async (tx) => {
    const connection = await lockConnection(tx, id.toLowerCase())
    if (!connection || (org_id !== undefined && connection.org_id !== org_id)) throw createNotFoundError('connection')
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
  await updateConnectionRemoved(tx, id)
  await updateToDisconnected(tx, org_id, id, null)
  await enqueue(tx, removeWebhooks, { connection_id: id, provider })
  const entry = { principal, action: 'connection.remove', object: { type: 'connection', id }, reason: null }
  await insertAuditEntry(tx, org_id, { ...entry, details: { provider, host, installation_id } }, now)
}

/**
 * After a connection has ended: removes its webhooks from the host, and then its credentials. If
 * the host does not permit it, the webhooks stay there, and what they send is refused.
 */
export const removeWebhooks = defineJob('codehosts.remove-webhooks', {
  waitsFor: ({ provider, connection_id }) => formatLoneParty(provider ?? connection_id),
  payload: definePayload({ connection_id: text, provider: Optional(text) }),
  attemptsMax: 8,
  once: ({ connection_id }) => connection_id,
  async run(services: Services, removed) {
    const { sql, config, codeHosts, secretsOfConnections: secrets } = services
    const connection = await findConnection(sql, removed.connection_id)
    if (connection === null || (await secrets.read(connection.id)) === null) return
    const client = (await codeHosts.get(connection.provider))?.open(connection)
    await client?.removeWebhooks(formatWebhookAddress(config.baseUrl, connection)).catch((error) => {
      if (!(error instanceof HostRefusal)) throw error
    })
    await forgetSecrets(services, removed)
  },
  giveUp: forgetSecrets,
})

async function forgetSecrets({ sql, secretsOfConnections }: Services, { connection_id }: { connection_id: string }) {
  await sql.begin((tx) => secretsOfConnections.remove(tx, connection_id))
}
