import { listConnected, updateToDisconnected } from '../../repositories/followed-repository.store.ts'
import { type HostPage, type HostRefusal, isDenied } from '../code-host.ts'
import { lockLiveConnections } from '../connections/connection.store.ts'
import { updateSelectionConfirmed, upsertSelection } from '../connections/installation.store.ts'
import { REPOSITORIES_LIST, upsertRefusals } from '../connections/refusal.store.ts'
import { applyEvents } from '../deliveries/apply-events.ts'
import type { HostEvent } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import { BrokenList, PageWalk, type WalkState } from '../kit/page-walk.ts'
import { updateConnection, updateRepositoryList } from './sync.store.ts'
import { countRepositories, deleteRepositories, listListed, upsertListed } from './sync-repository.store.ts'
import type { SyncRun } from './sync-run.ts'

/**
 * Reads which repositories the connection has, and takes those out of it that the host no longer
 * lists. Returns false if the time of the job ended before.
 */
export async function listRepositories(run: SyncRun): Promise<boolean> {
  const { services, client, sync, slice } = run
  if (sync.repositories_walk?.failure !== undefined) return true
  const walk = new PageWalk('repositories', sync.repositories_walk)
  let next = sync.repositories_next
  do {
    if (slice.isOver) return false
    // Only the whole list can be unchanged: an unchanged first page says nothing about the others.
    const known = sync.repositories_etag === null ? {} : { etag: sync.repositories_etag }
    const options = next === null ? known : { next }
    const page = await walk.read(() => client.listRepositories(options)).catch((error) => abandonList(run, walk, error))
    // What a list without an end lacks must not leave the connection. Known repositories are read.
    if (page === null) return true
    await noteRefusal(run, page === 'not_modified' ? undefined : page.refusal)
    // A list that may not be read must not take every repository out of the connection.
    if (page === 'not_modified' || (next === null && isDenied(page)) || page.refusal !== undefined) return true
    await applyPage(run, page, { isFirst: next === null, walk: walk.state })
    const { listed } = await countRepositories(services.sql, sync)
    await updateConnection(services.sql, sync.connection_id, { sync_done: listed })
    next = page.next
  } while (next !== null)
  return removeUnlisted(run)
}

async function noteRefusal({ services: { sql, clock }, sync }: SyncRun, refusal: HostRefusal | undefined) {
  const { id, list } = REPOSITORIES_LIST
  const refusals = new Map(refusal === undefined ? [] : [[list, refusal]])
  await sql.begin((tx) => upsertRefusals(tx, { ...sync, id, full_name: null }, refusals, clock.now()))
}

/** Notes why the list cannot be read to its end. */
async function abandonList({ services, sync }: SyncRun, { state }: PageWalk, error: Error): Promise<null> {
  if (!(error instanceof BrokenList)) throw error
  sync.repositories_walk = { ...state, failure: error.message }
  const position = { repositories_next: null, repositories_etag: null, repositories_walk: sync.repositories_walk }
  await services.sql.begin((tx) => updateRepositoryList(tx, sync, position))
  return null
}

type Place = { isFirst: boolean; walk: WalkState }

async function applyPage(run: SyncRun, page: HostPage<HostRepository>, { isFirst, walk }: Place): Promise<void> {
  const { services, parts, connection, source, sync, slice } = run
  const ids = page.items.map(({ id }) => id)
  const events = page.items.map(
    (repository): HostEvent => ({ kind: 'repository', data: { repository, change: 'changed' } }),
  )
  const etag = isFirst && page.next === null ? page.etag : null
  await services.sql.begin(async (tx) => {
    await lockLiveConnections(tx, source)
    await updateSelectionConfirmed(tx, connection, ids, sync.started_at)
    await applyEvents({ services, handlers: parts.handlers }, tx, source, events)
    await upsertListed(tx, sync, ids)
    const position = { repositories_next: page.next, repositories_etag: etag, repositories_walk: walk }
    await updateRepositoryList(tx, sync, position)
  })
  slice.progressed = true
}

/** Repositories that have joined since the synchronization started may not be listed yet. */
async function removeUnlisted({ services, connection, source, sync }: SyncRun): Promise<boolean> {
  const { sql, log, clock } = services
  let page = await listConnected(sql, sync, '')
  while (page.length > 0) {
    const known = page.filter(({ created_at }) => created_at < sync.started_at).map(({ id }) => id)
    const listed = await listListed(sql, sync, known)
    const ids = known.filter((id) => !listed.has(id))
    if (ids.length > 0) {
      await sql.begin(async (tx) => {
        await lockLiveConnections(tx, source)
        await upsertSelection(tx, connection, { ids, selected: false, host_at: null }, clock.now())
        await updateToDisconnected(tx, sync.org_id, sync.connection_id, ids)
        await deleteRepositories(tx, sync, ids)
      })
      log.info({ connection_id: sync.connection_id, repositories: ids }, 'Repositories left the connection')
    }
    page = await listConnected(sql, sync, page.at(-1)?.id ?? '')
  }
  return true
}
