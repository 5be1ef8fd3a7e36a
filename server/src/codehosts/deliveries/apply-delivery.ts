import type { Tx } from '../../platform/db/sql.ts'
import { defineHistogram } from '../../platform/metrics.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import type { CodeHost, TranslatedDelivery } from '../code-host.ts'
import { applyInstallationEvent } from '../connections/apply-installation-event.ts'
import {
  findConnection,
  findConnectionOfInstallation,
  type LiveConnection,
  updateConnectionEvent,
} from '../connections/connection.store.ts'
import { upsertInstallation } from '../connections/installation.store.ts'
import { isOfConnection } from '../connections/save-repository.ts'
import { applyEvents, getRepository } from './apply-events.ts'
import { applyShard, readObject } from './deliveries.job.ts'
import type { HostEventHandlers } from './host-event-handler.ts'
import {
  type ClaimedDelivery,
  type LockedDelivery,
  lockPending,
  type Settlement,
  updateDeliverySettled,
  updateDeliveryWaiting,
  updateWaitingReleased,
} from './pending-delivery.store.ts'

/** The label of events that we do not use. */
const UNKNOWN_EVENT = 'other'

const lag = defineHistogram(
  'shiplock_webhook_lag_seconds',
  'Time from the receipt of a webhook until it was applied, ignored or failed.',
  ['provider', 'event', 'outcome'],
  [0.1, 0.5, 1, 5, 15, 60, 300, 3600, 86_400],
)

export type ApplyContext = { services: Services; handlers: HostEventHandlers; shard: number }

/** Where deliveries of a provider come from. */
type Origin = { provider: Provider; host: string; codeHost: CodeHost }

/** A payload that does not fit. Trying again does not help. */
class UnfitPayload extends Error {}

/**
 * Applies a delivery in one transaction, together with its new status. Does nothing if it was
 * settled meanwhile.
 */
export async function applyDelivery(context: ApplyContext, claimed: ClaimedDelivery): Promise<void> {
  const { services } = context
  const { sql, clock, codeHosts } = services
  const { provider } = claimed
  const codeHost = await codeHosts.get(provider)
  if (!codeHost)
    return updateDeliverySettled(sql, claimed, { status: 'failed', error: `${provider} is not supported` }, clock.now())
  const origin = { provider, host: await codeHost.host(), codeHost }
  const waiting = await sql.begin(async (tx) => {
    // Sent together, to save a round trip.
    const [delivery, connection] = await Promise.all([
      lockPending(tx, claimed, clock.now()),
      findConnectionOfInstallation(tx, provider, origin.host, claimed.installation_id),
    ])
    return delivery && apply(context, tx, origin, { delivery, connection })
  })
  if (!waiting) return
  // The installation may have been connected while the delivery was marked as waiting.
  const connection = await findConnectionOfInstallation(sql, provider, origin.host, waiting)
  if (connection) await sql.begin((tx) => release(tx, provider, waiting))
}

/** A locked delivery, and the connection of its installation. */
type Located = { delivery: LockedDelivery; connection: LiveConnection | null }

/** Returns the installation that the delivery waits for; null if it waits for none. */
async function apply(context: ApplyContext, tx: Tx, origin: Origin, located: Located): Promise<string | null> {
  const { services } = context
  const { delivery } = located
  let translated: TranslatedDelivery
  try {
    translated = translate(origin, delivery)
  } catch (error) {
    if (!(error instanceof UnfitPayload)) throw error
    await settle(services, tx, delivery, { status: 'failed', error: error.message })
    return null
  }
  if (translated.type === 'events' || translated.type === 'changes')
    return applyToConnection(context, tx, origin, { ...located, translated })
  if (translated.type === 'installation') await applyInstallationEvent(services, tx, origin, translated.event)
  const isUnknown = translated.type === 'unknown'
  const named = isUnknown ? { ...delivery, event: UNKNOWN_EVENT } : delivery
  await settle(services, tx, named, { status: isUnknown ? 'ignored' : 'applied' })
  return null
}

function translate({ codeHost }: Origin, { event, payload }: LockedDelivery): TranslatedDelivery {
  try {
    return codeHost.webhooks.translate(event, JSON.parse(payload))
  } catch (cause) {
    throw new UnfitPayload((cause as Error).message.slice(0, 500), { cause })
  }
}

type Translated = Located & { translated: Extract<TranslatedDelivery, { type: 'events' | 'changes' }> }

async function applyToConnection(
  context: ApplyContext,
  tx: Tx,
  { provider, host }: Origin,
  { delivery, connection, translated }: Translated,
): Promise<string | null> {
  const now = context.services.clock.now()
  const { installation_id } = delivery
  if (installation_id === null) {
    await settle(context.services, tx, delivery, { status: 'ignored', error: 'The payload names no installation' })
    return null
  }
  if (connection === null) {
    await upsertInstallation(tx, { provider, host, id: installation_id }, now)
    await updateDeliveryWaiting(tx, delivery)
    return installation_id
  }
  if (delivery.has_waiting) {
    // Older deliveries come first. This one is claimed again.
    await release(tx, provider, installation_id)
    return null
  }
  const { org_id, id } = connection
  for (const event of translated.type === 'events' ? translated.events : [])
    if (!(await isOfConnection(tx, connection, getRepository(event)))) {
      await settle(context.services, tx, delivery, { status: 'ignored', error: OUTSIDE })
      return null
    }
  const learned = { by: 'told', at: delivery.received_at } as const
  if (translated.type === 'events')
    await applyEvents(context, tx, { org_id, connection_id: id, provider, host, learned }, translated.events)
  else
    for (const change of translated.changes)
      await enqueue(tx, readObject, { org_id, connection_id: id, provider, change })
  await Promise.all([
    updateConnectionEvent(tx, connection, now),
    settle(context.services, tx, delivery, { status: 'applied' }),
  ])
  return null
}

const OUTSIDE = 'The payload names a repository outside the connected account'

/** Ends the work on a delivery. `event` is a name that we know. */
function settle({ clock }: Services, tx: Tx, delivery: LockedDelivery, settlement: Settlement): Promise<void> {
  const now = clock.now()
  const { provider, event, received_at } = delivery
  lag.observe({ provider, event, outcome: settlement.status }, (now.getTime() - received_at.getTime()) / 1000)
  return updateDeliverySettled(tx, delivery, settlement, now)
}

/** Releases the deliveries that waited for a connection. Subscribed to `connectionMade`. */
export async function releaseDeliveries(
  { sql }: Pick<Services, 'sql'>,
  { connection_id }: { connection_id: string },
): Promise<void> {
  const connection = await findConnection(sql, connection_id)
  if (connection) await sql.begin((tx) => release(tx, connection.provider, connection.installation_id))
}

async function release(tx: Tx, provider: Provider, installationId: string): Promise<void> {
  for (const shard of await updateWaitingReleased(tx, provider, installationId))
    await enqueue(tx, applyShard, { shard })
}
