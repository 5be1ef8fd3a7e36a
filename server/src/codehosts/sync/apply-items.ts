import { collectConcurrently } from '../../platform/concurrency-limit.ts'
import { checkSql, type Tx } from '../../platform/db/sql.ts'
import { applyEvents } from '../deliveries/apply-events.ts'
import type { HostEvent } from '../host-event.ts'
import { readSafely } from './read-safely.ts'
import type { SyncRun } from './sync-run.ts'
import type { ListedItem } from './synced-list.ts'

const DETAILS_AT_ONCE = 4

/** Called for an item that could not be applied. */
type OnFailure = (itemId: string, error: unknown) => void

/** Stores how far a list was read, in the transaction that applies its items. */
export type StorePosition = (tx: Tx) => Promise<void>

/**
 * Applies some items of a list in one transaction. If that fails, each item is applied in its own
 * transaction, so that one that does not fit does not hold up the others.
 */
export async function applyItems(
  run: SyncRun,
  items: readonly ListedItem[],
  onFailure: OnFailure,
  store: StorePosition = async () => {},
): Promise<void> {
  const events = await collectConcurrently(items, DETAILS_AT_ONCE, (item) => readEvents(run, item, onFailure))
  try {
    await applyAll(run, events.flat(), store)
  } catch {
    for (const [at, { id }] of items.entries()) {
      await applyAll(run, events[at] ?? []).catch(async (error) => {
        await checkSql(run.services.sql)
        onFailure(id, error)
      })
    }
    await applyAll(run, [], store)
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

async function applyAll({ services, parts, source }: SyncRun, events: HostEvent[], store?: StorePosition) {
  await services.sql.begin(async (tx) => {
    if (events.length > 0) await applyEvents({ services, handlers: parts.handlers }, tx, source, events)
    await store?.(tx)
  })
}
