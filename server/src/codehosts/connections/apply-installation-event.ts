import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { updateToConnected, updateToDisconnected } from '../../repositories/followed-repository.store.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import type { InstallationEvent } from '../code-host.ts'
import {
  findConnectionOfInstallation,
  type LiveConnection,
  lockConnection,
  updateConnection,
} from './connection.store.ts'
import {
  type InstallationKey,
  type KnownInstallation,
  lockInstallation,
  updateInstallation,
  upsertInstallation,
  upsertSelection,
} from './installation.store.ts'
import { removeConnection } from './remove-connection.job.ts'

/**
 * Applies an event about an installation itself, connected or not. The host's time decides which
 * event is newer; events without a time count in the order of their arrival. A removed installation
 * never returns: hosts give a new installation a new id.
 */
export async function applyInstallationEvent(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { provider, host }: { provider: Provider; host: string },
  event: InstallationEvent,
): Promise<void> {
  const now = clock.now()
  const key = { provider, host, id: event.installation.id }
  const known = await saveInstallation(tx, key, event, now)
  const found = await findConnectionOfInstallation(tx, provider, host, key.id)
  const connection = found && (await lockConnection(tx, found.id))
  const live = connection && connection.status !== 'removed' ? connection : null
  const isExtended = await select(tx, { key, live, event }, now)
  if (!live) return
  if (known.removed_at) return removeConnection(tx, live, SYSTEM, now)
  const isResumed = await follow(tx, live, known, now)
  if (isExtended || isResumed) await publish(tx, connectionMade, { org_id: live.org_id, connection_id: live.id })
}

/** `read`: the host has just described the installation, so it exists. */
type InstallationNews = Pick<InstallationEvent, 'installation'> & { change: InstallationEvent['change'] | 'read' }

/** Stores what is known of an installation, and locks it until the transaction ends. */
export async function saveInstallation(
  tx: Tx,
  key: InstallationKey,
  news: InstallationNews,
  now: Date,
): Promise<KnownInstallation> {
  await upsertInstallation(tx, key, now)
  const known = await lockInstallation(tx, key)
  const removed_at = news.change === 'read' ? null : (known.removed_at ?? (news.change === 'removed' ? now : null))
  const facts = isNewer(news, known) ? mergeFacts(news, known) : known
  const next = { ...facts, removed_at }
  await updateInstallation(tx, key, next)
  return next
}

/** The creation of an installation is older than everything else about it. */
function isNewer({ change, installation }: InstallationNews, known: KnownInstallation): boolean {
  if (known.account === null || change === 'read') return true
  if (change === 'created') return false
  const at = installation.updated_at ?? null
  return at === null || known.host_updated_at === null || at >= known.host_updated_at
}

function mergeFacts({ change, installation }: InstallationNews, known: KnownInstallation): KnownInstallation {
  const { account, repositories, updated_at } = installation
  const suspended = change === 'suspended' || (change !== 'unsuspended' && installation.suspended)
  return { ...known, account, repositories, suspended, host_updated_at: updated_at ?? known.host_updated_at }
}

type SelectionChange = { key: InstallationKey; live: LiveConnection | null; event: InstallationEvent }

/**
 * Adds repositories to the connection and takes others out. Returns whether some were added.
 * Unknown ones are inserted when they are first described.
 */
async function select(tx: Tx, { key, live, event }: SelectionChange, now: Date): Promise<boolean> {
  const installation = { provider: key.provider, host: key.host, installation_id: key.id }
  const version = { host_at: event.installation.updated_at ?? null, is_first: event.change === 'created' }
  const record = (repositories: { id: string }[], selected: boolean) =>
    upsertSelection(tx, installation, { ids: repositories.map(({ id }) => id), selected, ...version }, now)
  const added = await record(event.added, true)
  const removed = await record(event.removed, false)
  if (!live) return false
  if (added.length > 0) await updateToConnected(tx, live, added)
  if (removed.length > 0) await updateToDisconnected(tx, live.org_id, live.id, removed)
  return added.length > 0
}

/** Brings a connection in line with its installation. Returns whether its suspension has ended. */
async function follow(tx: Tx, live: LiveConnection, known: KnownInstallation, now: Date): Promise<boolean> {
  const { account, repositories, suspended } = known
  if (account === null || repositories === null) return false
  const status = suspended ? ('suspended' as const) : ('active' as const)
  await updateConnection(tx, live.id, { status, account, repositories })
  if (status === live.status) return false
  const object = { type: 'connection', id: live.id }
  const action = suspended ? 'connection.suspend' : 'connection.resume'
  await insertAuditEntry(tx, live.org_id, { principal: SYSTEM, action, object, reason: null }, now)
  return !suspended
}

/**
 * Published when a connection was made, when its suspension has ended, and when repositories were
 * added to it. Subscribers apply the deliveries that waited for it and read what was missed.
 */
export const connectionMade = defineEvent('codehosts.connection.made', {
  payload: definePayload({ org_id: text, connection_id: text }),
  subject: ({ connection_id }) => ({ type: 'connection', id: connection_id }),
  updates: () => [update('code_host'), update('repository')],
  once: ({ connection_id }) => connection_id,
})
