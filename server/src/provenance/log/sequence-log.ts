import { setTimeout as delay } from 'node:timers/promises'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { GrowingTree } from './growing-tree.ts'
import {
  findNewestCheckpoint,
  hasPendingEntries,
  insertCheckpoint,
  listTiles,
  lockLog,
  updateEntryPositions,
  upsertTiles,
} from './log.store.ts'
import { type LogKey, openLogKey } from './log-key.ts'
import { hashLeaf } from './merkle-tree.ts'
import { computeEdge, formatEntry, Tiles } from './tile.ts'

const BATCH_MAX = 4096
const POLL_MS = 500
/** The pause after a failure. */
const RETRY_MS = 10_000

/** Adds the entries that were committed before the call to the log. */
export async function appendPendingEntries(services: Services): Promise<void> {
  const key = await openLogKey(services)
  let added: number
  do added = await sequenceBatch(services, key)
  while (added === BATCH_MAX)
}

/**
 * Adds pending entries to the log about a second after they were committed, until it is closed.
 * Every worker does this; a lock makes them take turns. Entries are polled for, because a
 * notification or a job in the transactions that add them would make these wait for each other.
 */
export function startSequencing(services: Services): { close(): Promise<void> } {
  const stopping = new AbortController()
  const ended = sequenceUntil(stopping.signal, services)
  return {
    close: async () => {
      stopping.abort()
      await ended
    },
  }
}

async function sequenceUntil(stopping: AbortSignal, services: Services): Promise<void> {
  while (!stopping.aborted) {
    let pauseMs = POLL_MS
    try {
      if (await hasPendingEntries(services.sql)) await appendPendingEntries(services)
    } catch (err) {
      services.log.error({ err }, 'Could not extend the transparency log; trying again in 10 seconds')
      pauseMs = RETRY_MS
    }
    await delay(pauseMs, undefined, { signal: stopping }).catch(() => {})
  }
}

/**
 * Numbers a batch of pending entries, and stores the tiles and the checkpoint of the larger tree,
 * all in one transaction. Returns the number of entries.
 */
async function sequenceBatch({ sql, clock }: Services, key: LogKey): Promise<number> {
  return sql.begin(async (tx) => {
    await lockLog(tx)
    const tree = await readTree(tx, key)
    const entries = await updateEntryPositions(tx, tree.size, BATCH_MAX)
    if (entries.length === 0) return 0
    const full = entries.flatMap((entry) => tree.append(hashLeaf(formatEntry(entry))))
    await upsertTiles(tx, [...full, ...tree.partialTiles()])
    const [size, root_hash] = [tree.size, tree.root()]
    await insertCheckpoint(tx, { size, root_hash, note: key.signCheckpoint(size, root_hash) }, clock.now())
    return entries.length
  })
}

/**
 * Reads the tree of the newest checkpoint. Throws if the checkpoint or the tiles were changed: a
 * tree that contradicts a signed checkpoint is never signed.
 */
async function readTree(tx: Tx, key: LogKey): Promise<GrowingTree> {
  const newest = await findNewestCheckpoint(tx)
  if (newest?.note !== key.signCheckpoint(newest?.size ?? 0, newest?.root_hash ?? Buffer.alloc(0)))
    throw new Error('The newest checkpoint of the transparency log is missing, or was not signed by this server.')
  const tree = new GrowingTree(newest.size, new Tiles(await listTiles(tx, computeEdge(newest.size))))
  if (tree.root().equals(newest.root_hash)) return tree
  throw new Error(`The tiles of the transparency log contradict its checkpoint of ${newest.size} entries.`)
}
