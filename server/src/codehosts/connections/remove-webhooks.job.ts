import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import { findConnection } from './connection.store.ts'
import { formatWebhookAddress } from './webhook-address.ts'

/**
 * After a connection has ended: removes its webhooks from the host, and then its credentials. If
 * the host does not permit it, the webhooks stay there, and what they send is refused.
 */
export const removeWebhooks = defineJob('codehosts.remove-webhooks', {
  payload: definePayload({ connection_id: text }),
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
