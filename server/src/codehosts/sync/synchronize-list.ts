import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import { collectConcurrently } from '../../platform/concurrency.ts'
import { checkSql, type Tx } from '../../platform/db/sql.ts'
import { type HostPage, HostRefusal, isDenied } from '../code-host.ts'
import { applyEvents } from '../deliveries/apply-events.ts'
import type { HostEvent, HostSource } from '../host-event.ts'
import { BrokenList, PageWalk } from '../kit/page-walk.ts'
import type { Sync } from './sync.store.ts'
import { findPosition, type ListPosition, upsertPosition } from './sync-repository.store.ts'
import { type RepositoryPass, readSafely, type SyncRun } from './sync-run.ts'
import type { ListedItem, SyncedList } from './synced-list.ts'

/** How far back a list is read for the first time, unless all of it is read. */
const FIRST_SYNC_MS = 90 * DAY_MS
/** How far back items are read again daily that the host cannot be asked for. */
const REREAD_MS = 7 * DAY_MS
/** Hosts may show a change in their lists after a newer one. */
const OVERLAP_MS = 10 * MINUTE_MS
const ITEMS_AT_ONCE = 25

/**
 * Reads what has changed in a list since it was last read, and applies it page by page. It goes on
 * where it was interrupted. Returns false if the time of the job ended before.
 */
export async function synchronizeList(pass: RepositoryPass, list: SyncedList): Promise<boolean> {
  const { services, sync, slice } = pass.run
  let position = await findPosition(services.sql, toScope(pass, list))
  if (position?.walk?.failed_in === sync.number) {
    if (position.walk.failure) pass.note(list.name, new Error(position.walk.failure))
    return true
  }
  if (isInterrupted(position, sync)) {
    if (slice.isOver) return false
    position = await resume(pass, list, position)
    if (position === null) return true
  }
  while (!(position?.next === null && position.read_in === sync.number)) {
    if (slice.isOver) return false
    const reached = isInterrupted(position, sync)
      ? await readOn(pass, list, position)
      : await restart(pass, list, position)
    if (reached === null) return true
    position = reached
  }
  return true
}

/**
 * Ends the reading of a list in this synchronization, because its host does not answer or does not
 * come to an end: other lists go on, and no later job waits for it again. The next synchronization
 * goes on where a host did not answer, and reads a list without an end anew. `failure` is noted.
 */
export async function abandonList(
  pass: RepositoryPass,
  list: SyncedList,
  { error, failure }: { error: Error; failure: string | null },
): Promise<void> {
  const { services, sync } = pass.run
  const known = error instanceof BrokenList ? null : await findPosition(services.sql, toScope(pass, list))
  const fresh = { read_in: sync.number, etag: null, next: null, until: null, newest_at: null }
  const walk = { ...new PageWalk(list.name, known?.walk).state, failure, failed_in: sync.number }
  await services.sql.begin((tx) => upsertPosition(tx, toScope(pass, list), { ...(known ?? fresh), walk }))
}

type Interrupted = ListPosition & { next: string }

/**
 * Whether a walk goes on. A walk of an earlier synchronization ends if lists are to be read again.
 */
function isInterrupted(position: ListPosition | null, sync: Sync): position is Interrupted {
  if (position === null || position.next === null) return false
  return position.read_in === sync.number || sync.since === null
}

/**
 * The next page after an interruption. If the host no longer knows it, the list is read from the
 * start. Null if nothing can be read now.
 */
async function resume(pass: RepositoryPass, list: SyncedList, known: Interrupted): Promise<ListPosition | null> {
  try {
    return await readOn(pass, list, known)
  } catch (error) {
    if (!(error instanceof HostRefusal) || error instanceof BrokenList) throw error
    return restart(pass, list, known)
  }
}

async function readOn(pass: RepositoryPass, list: SyncedList, known: Interrupted): Promise<ListPosition> {
  const walk = new PageWalk(list.name, known.walk)
  const read_at = pass.run.services.clock.now()
  const page = await walk.read(() => list.read(pass, { next: known.next }))
  // A page that may not be read looks empty. The list is not at its end.
  if (page === 'not_modified' || isDenied(page)) {
    const refusal = page === 'not_modified' ? undefined : page.refusal
    throw refusal ?? new HostRefusal(404, 'The host does not return the next page')
  }
  return applyPage(pass, list, { ...page, read_at }, { ...known, walk: walk.state })
}

/**
 * Reads the first page. Null if it is unchanged and nothing behind it is to be read, or if the host
 * refuses it: what was read before stays, and is continued once the list can be read again.
 */
async function restart(
  pass: RepositoryPass,
  list: SyncedList,
  known: ListPosition | null,
): Promise<ListPosition | null> {
  const { sync } = pass.run
  const until = endOfWalk(list, known, sync)
  const isReread = list.changes_late === true && sync.rereads
  const etag = known?.next === null && sync.since === null && !isReread ? known.etag : null
  const options = {
    ...(etag !== null && { etag }),
    ...(list.changes_late && known !== null && until !== null && { changed_since: until }),
  }
  const walk = new PageWalk(list.name)
  const read_at = pass.run.services.clock.now()
  const page = await walk.read(() => list.read(pass, options))
  if (page === 'not_modified') return null
  if (page.refusal !== undefined) {
    pass.refusals.set(list.name, page.refusal)
    return null
  }
  if (page.next === null && !isDenied(page)) pass.whole.set(list.name, new Set(page.items.map(({ id }) => id)))
  const isShort = !isReread || page.has_changes === true || known === null
  const end = isShort ? until : earlier(until, new Date(sync.started_at.getTime() - REREAD_MS))
  const position = { ...startOfWalk(known, sync, page), until: end, walk: walk.state }
  return applyPage(pass, list, { ...page, read_at }, position)
}

function startOfWalk(
  known: ListPosition | null,
  sync: Sync,
  { items, etag }: HostPage<ListedItem>,
): Omit<ListPosition, 'walk' | 'until'> {
  const newest = Math.max(known?.newest_at?.getTime() ?? 0, ...items.map(({ changed_at }) => changed_at.getTime()))
  return {
    read_in: sync.number,
    etag,
    next: null,
    newest_at: newest === 0 ? null : new Date(newest),
  }
}

/**
 * Where a new walk ends. An unfinished walk is included, and so is what changed after a finished
 * one.
 */
function endOfWalk(list: SyncedList, known: ListPosition | null, { started_at, since }: Sync): Date | null {
  const first = list.is_complete ? null : new Date(started_at.getTime() - FIRST_SYNC_MS)
  if (known === null) return list.is_complete ? null : (since ?? first)
  if (known.next !== null) return earlier(known.until, since)
  return earlier(known.newest_at === null ? first : new Date(known.newest_at.getTime() - OVERLAP_MS), since)
}

/** The earlier of two ends. An `end` of null is the end of the list; a `since` of null is none. */
function earlier(end: Date | null, since: Date | null): Date | null {
  return end === null || since === null || end <= since ? end : since
}

async function applyPage(
  pass: RepositoryPass,
  list: SyncedList,
  page: HostPage<ListedItem> & { read_at: Date },
  walk: ListPosition,
): Promise<ListPosition> {
  const { until } = walk
  const oldest = page.items.at(-1)
  const isLast = until !== null && oldest !== undefined && oldest.ordered_at < until
  const position = { ...walk, next: isLast ? null : page.next }
  const items = page.items.filter(({ changed_at }) => until === null || changed_at >= until)
  const read = { items, read_at: page.read_at }
  await applyInParts(pass, list, read, (tx) => upsertPosition(tx, toScope(pass, list), position))
  return position
}

/** A page is applied as a whole, however long it takes, so that every job gets further. */
async function applyInParts(
  pass: RepositoryPass,
  list: SyncedList,
  { items, read_at }: ReadItems,
  store: StorePosition,
): Promise<void> {
  for (let at = 0; at === 0 || at < items.length; at += ITEMS_AT_ONCE) {
    pass.run.slice.throwIfStopping()
    const part = items.slice(at, at + ITEMS_AT_ONCE)
    const isLast = at + ITEMS_AT_ONCE >= items.length
    const onFailure: OnFailure = (id, error) => pass.note(`${list.name} ${id}`, error)
    await applyItems(pass.run, { items: part, read_at }, onFailure, isLast ? store : undefined)
    for (const { id } of part) pass.seen.add(`${list.name} ${id}`)
  }
}

function toScope({ run, repository }: RepositoryPass, { name }: SyncedList) {
  const { org_id, connection_id } = run.sync
  return { org_id, connection_id, repository_id: repository.id, list: name }
}

const DETAILS_AT_ONCE = 4

/** Items of a list, and when the host was asked for them. */
export type ReadItems = { items: readonly ListedItem[]; read_at: Date }

/** Called for an item that could not be applied. */
type OnFailure = (itemId: string, error: unknown) => void

/** Stores how far a list was read, in the transaction that applies its items. */
type StorePosition = (tx: Tx) => Promise<void>

/**
 * Applies some items of a list in one transaction. If that fails, each item is applied in its own
 * transaction, so that one that does not fit does not hold up the others.
 */
export async function applyItems(
  run: SyncRun,
  { items, read_at }: ReadItems,
  onFailure: OnFailure,
  store: StorePosition = async () => {},
): Promise<void> {
  const apply = (events: HostEvent[], store?: StorePosition) => applyAll(run, { events, read_at }, store)
  const events = await collectConcurrently(items, DETAILS_AT_ONCE, (item) => readEvents(run, item, onFailure))
  try {
    await apply(events.flat(), store)
  } catch {
    for (const [at, { id }] of items.entries()) {
      await apply(events[at] ?? []).catch(async (error) => {
        await checkSql(run.services.sql)
        onFailure(id, error)
      })
    }
    await apply([], store)
  }
  run.slice.progressed = true
}

async function readEvents(
  run: SyncRun,
  { id, event, details }: ListedItem,
  onFailure: OnFailure,
): Promise<HostEvent[]> {
  const more = details && (await readSafely(run, details, (error) => onFailure(id, error)))
  return [event, ...(more ?? [])]
}

type ReadEvents = { events: HostEvent[]; read_at: Date }

async function applyAll(
  { services, parts, source: of }: SyncRun,
  { events, read_at }: ReadEvents,
  store?: StorePosition,
) {
  const source: HostSource = { ...of, learned: { by: 'read', at: read_at } }
  await services.sql.begin(async (tx) => {
    if (events.length > 0) await applyEvents({ services, handlers: parts.handlers }, tx, source, events)
    await store?.(tx)
  })
}
