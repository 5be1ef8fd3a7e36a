import { lazy } from '../../platform/lazy.ts'
import { defineJob, defineScheduledJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, integer, type PayloadSchema, text } from '../../platform/queue/payload.ts'
import type { Services } from '../../services.ts'
import { HostRefusal } from '../code-host.ts'
import { findConnection } from '../connections/connection.store.ts'
import { findHostRepository, openClient } from '../connections/open-client.ts'
import { isOfConnection } from '../connections/save-repository.ts'
import type { HostEvent, ObjectChange } from '../host-event.ts'
import { readChange } from '../read-change.ts'
import { applyEvents } from './apply-events.ts'
import type { HandlingServices } from './host-event-handler.ts'
import { listDueShards } from './pending-delivery.store.ts'

/**
 * A change, and the connection whose webhook named it. Jobs of an earlier version name no provider.
 */
type ReadObject = { org_id: string; connection_id: string; provider?: string; change: ObjectChange }

/** Every change has these members. The webhook was checked when it was translated. */
const payload: PayloadSchema<ReadObject> = {
  type: 'object',
  required: ['org_id', 'connection_id', 'change'],
  properties: { org_id: text, connection_id: text, change: definePayload({ type: text, repository_id: text }) },
}

/**
 * Reads an object which a webhook named, and applies what the host says. Several webhooks about one
 * object that wait are one read.
 */
export const readObject = defineJob('codehosts.read-object', {
  waitsFor: ({ provider, connection_id }) => formatLoneParty(provider ?? connection_id),
  payload,
  attemptsMax: 20,
  once: ({ connection_id, change }) => JSON.stringify([connection_id, ...getChangeKey(change)]),
  run: readAndApply,
})

/** What identifies the changed object. Changes that are known only from a webhook are each one. */
function getChangeKey(change: ObjectChange): (string | number | null)[] {
  const { type, repository_id } = change
  switch (change.type) {
    case 'repository':
      return [type, repository_id, change.change]
    case 'run':
    case 'deployment':
      return [type, repository_id, change.id]
    case 'run_deployments':
      return [type, repository_id, change.run_id]
    case 'pull_request':
      return [type, repository_id, change.number]
    case 'checks':
      return [type, repository_id, change.commit_sha]
    case 'alert':
      return [type, repository_id, change.alert.type, change.alert.number]
    case 'alerts':
      return [type, repository_id]
    case 'push':
      return [type, repository_id, change.push.ref, change.push.before, change.push.after]
    case 'gate_request':
      return [type, repository_id, change.request.callback_url]
  }
}

/** The synchronization reads what changed while a connection was suspended. */
async function readAndApply(services: HandlingServices, { org_id, connection_id, change }: ReadObject): Promise<void> {
  const { sql, log, clock, handlers } = services
  const learned = { by: 'read', at: clock.now() } as const
  const connection = await findConnection(sql, connection_id)
  const client = connection && (await openClient(services, connection))
  if (!client) return
  const { provider, host } = connection
  const known = await findHostRepository(sql, org_id, provider, change.repository_id)
  if (known !== null && !(await isOfConnection(sql, connection, known))) return
  const events = await readChange(client, known, change).catch((error): HostEvent[] => {
    if (!(error instanceof HostRefusal)) throw error
    log.warn({ connection_id, change: change.type, message: error.message }, 'Could not read a changed object')
    return []
  })
  if (events.length === 0) return
  const source = { org_id, connection_id, provider, host, learned }
  await sql.begin((tx) => applyEvents({ services, handlers }, tx, source, events))
}

/** What jobs that apply deliveries wait for: each other. */
export const DELIVERIES = 'deliveries'

/**
 * Applies the stored deliveries of a shard. Deliveries are of all organizations, and many can
 * arrive at once: they have slots of their own, so that they hold up nothing else.
 */
export const applyShard = defineJob('codehosts.apply-deliveries', {
  waitsFor: () => DELIVERIES,
  payload: definePayload({ shard: integer }),
  attemptsMax: 25,
  once: ({ shard }) => `${shard}`,
  run: lazy(async () => (await import('./apply-deliveries.ts')).applyDeliveries),
})

/**
 * Every minute: queues the deliveries whose pause after a failed try is over, and those whose job
 * was given up.
 */
export const resumeDeliveries = defineScheduledJob<Services>('codehosts.resume-deliveries', {
  schedule: '* * * * *',
  async run({ sql, clock }): Promise<void> {
    for (const shard of await listDueShards(sql, clock.now())) await enqueue(sql, applyShard, { shard })
  },
})
