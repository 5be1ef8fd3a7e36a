import type { Db, Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import {
  findFollowed,
  insertFollowed,
  lockFollowed,
  updateFollowed,
  updateToDisconnected,
} from '../../repositories/followed-repository.store.ts'
import { repositoryRenamed } from '../../repositories/repository.events.ts'
import {
  canReplaceFacts,
  mergeFacts,
  type RepositoryFacts,
  type ToldFacts,
} from '../../repositories/repository-facts.ts'
import type { Services } from '../../services.ts'
import type { HostEvents, HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import { type LiveConnection, lockLiveConnections } from './connection.store.ts'
import { isSelected, upsertSelection } from './installation.store.ts'

type FollowServices = Pick<Services, 'clock'>

/**
 * Stores what an event or a list says about its repository. Links made by `repo link` are taken
 * over. The result does not depend on the order of events. It costs one query if nothing is new.
 */
export async function saveRepository(
  { clock }: FollowServices,
  tx: Tx,
  source: HostSource,
  repository: HostRepository,
): Promise<void> {
  const told = { id: repository.id, facts: toFacts(repository, null), is_change: false }
  await follow(tx, source, told, clock.now())
}

/** The handler of events about the repository itself. */
export async function applyRepositoryEvent(
  { clock }: FollowServices,
  tx: Tx,
  source: HostSource,
  { repository, change }: HostEvents['repository'],
): Promise<void> {
  const now = clock.now()
  if (change === 'removed') await leaveSelection(tx, source, repository.id, now)
  const facts = toFacts(repository, change === 'deleted' ? now : null)
  await follow(tx, source, { id: repository.id, facts, is_change: true }, now)
}

async function follow(tx: Tx, source: HostSource, told: ToldFacts & { id: string }, now: Date): Promise<void> {
  const key = { org_id: source.org_id, provider: source.provider, id: told.id }
  const seen = await findFollowed(tx, key)
  if (seen && !canReplaceFacts(told, seen) && seen.connection_id === source.connection_id) return
  // Always before the repository, so that transactions that change both cannot block each other.
  const connections = await lockLiveConnections(tx, source)
  if (!seen) await insertFollowed(tx, key, told.facts, now)
  const known = await lockFollowed(tx, key)
  const facts = canReplaceFacts(told, known) ? mergeFacts(told, known) : known
  await updateFollowed(tx, key, { ...facts, connection_id: await owningConnection(tx, connections, told.id, facts) })
  if (facts.full_name !== known.full_name) {
    await publish(tx, repositoryRenamed, { org_id: key.org_id, provider: key.provider, repository_id: key.id })
  }
}

/** The repository is not in the selection of the source's installation any more. */
async function leaveSelection(tx: Tx, source: HostSource, repositoryId: string, now: Date): Promise<void> {
  const connections = await lockLiveConnections(tx, source)
  const connection = connections.find(({ id }) => id === source.connection_id)
  if (!connection) return
  await upsertSelection(tx, connection, { ids: [repositoryId], selected: false, host_at: null }, now)
  await updateToDisconnected(tx, source.org_id, connection.id, [repositoryId])
}

/**
 * The connection that a repository belongs to: that of its owner's account, unless the repository
 * was deleted or removed from the selection. A name counts only where the host gives no id, because
 * another account can have it later.
 */
async function owningConnection(
  tx: Tx,
  connections: readonly LiveConnection[],
  repositoryId: string,
  facts: RepositoryFacts,
): Promise<string | null> {
  if (facts.deleted_at !== null) return null
  const login = facts.full_name.split('/', 1)[0]?.toLowerCase()
  const owner = connections.find(({ account_id, account_login }) =>
    facts.owner_id ? account_id === facts.owner_id : account_login.toLowerCase() === login,
  )
  if (!owner) return null
  return (await isSelected(tx, owner, repositoryId, facts.host_updated_at)) ? owner.id : null
}

/**
 * Whether a repository that an event names belongs to the account of the connection that sent it,
 * or did when the host last spoke of it: an event can say that it has left.
 */
export async function isOfConnection(db: Db, connection: LiveConnection, repository: HostRepository): Promise<boolean> {
  const { org_id, provider, id, account_id } = connection
  if (repository.owner_id === account_id) return true
  const known = await findFollowed(db, { org_id, provider, id: repository.id })
  return known?.connection_id === id
}

function toFacts(repository: HostRepository, deletedAt: Date | null): RepositoryFacts {
  return {
    host: repository.host,
    full_name: repository.full_name,
    tracked_branch: repository.default_branch,
    owner_id: repository.owner_id,
    html_url: repository.html_url,
    private: repository.private,
    archived: repository.archived,
    deleted_at: deletedAt,
    host_updated_at: repository.updated_at,
  }
}
