import type { Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import { findConnection } from '../connections/connection.store.ts'
import { findHostRepository } from '../connections/find-host-repository.ts'
import { openClient } from '../connections/open-client.ts'
import type { HostEvent } from '../host-event.ts'
import { readChange } from '../read-change.ts'
import { applyEvents } from './apply-events.ts'
import type { HostEventHandlers } from './host-event-handler.ts'
import { type ReadObject, readObject } from './read-object.ts'

/**
 * The job that reads an object which a webhook named, and applies what the host says. Several
 * webhooks about one object that wait are one read. jobs.ts provides the handlers.
 */
export function readObjectJob(handlers: HostEventHandlers): Job<Services, ReadObject> {
  return { ...readObject, run: (services, changed) => readAndApply(services, handlers, changed) }
}

/** The synchronization reads what changed while a connection was suspended. */
async function readAndApply(
  services: Services,
  handlers: HostEventHandlers,
  { org_id, connection_id, change }: ReadObject,
): Promise<void> {
  const { sql, log } = services
  const connection = await findConnection(sql, connection_id)
  const client = connection && (await openClient(services, connection))
  if (!client) return
  const { provider, host } = connection
  const known = await findHostRepository(sql, org_id, provider, change.repository_id)
  const events = await readChange(client, known, change).catch((error): HostEvent[] => {
    if (!(error instanceof HostRefusal)) throw error
    log.warn({ connection_id, change: change.type, message: error.message }, 'Could not read a changed object')
    return []
  })
  if (events.length === 0) return
  const source = { org_id, connection_id, provider, host }
  await sql.begin((tx) => applyEvents({ services, handlers }, tx, source, events))
}
