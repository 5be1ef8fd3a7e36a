import { setTimeout as delay } from 'node:timers/promises'
import { createLogError } from '../../errors/provenance.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { GrowingTree } from './growing-tree.ts'
import {
  findLogState,
  hasCheckpoint,
  hasNewestCheckpoint,
  hasPendingEntries,
  insertCheckpoint,
  type LogState,
  listTiles,
  lockLog,
  updateEntryPositions,
  upsertTiles,
} from './log.store.ts'
import { type LogKey, openLogKey } from './log-key.ts'
import { computeCheckpointMac, hasMacs, requireAuthenticCheckpoint, requireAuthenticEntries } from './log-mac.ts'
import { hashLeaf } from './merkle-tree.ts'
import { computeEdge, formatEntry, Tiles } from './tile.ts'
import { LogWalk } from './verify-log.ts'

const BATCH_MAX = 4096
/** For how many entries a lost checkpoint is signed again: a request may wait for it. */
const REBUILT_MAX = 4 * BATCH_MAX
const POLL_MS = 500
/** The pause after a failure. */
const RETRY_MS = 10_000

/**
 * Adds the entries that were committed before the call to the log, after it has signed a lost
 * checkpoint again. Throws 503 `unavailable` if what is stored contradicts itself.
 */
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
async function sequenceBatch(services: Services, key: LogKey): Promise<number> {
  return services.sql.begin(async (tx) => {
    await lockLog(tx)
    const state = await findLogState(tx)
    const tree = await readTree(services, tx, key, state)
    const publish = () => publishTree(services, tx, { tree, key })
    if (!hasNewestCheckpoint(state)) {
      await rebuildTree(services, tx, { tree, key, length: state.length })
      await publish()
      const { size, length } = state
      services.log.error(
        { size, length },
        'The newest checkpoint of the transparency log was lost, and is signed again',
      )
    }
    const entries = await updateEntryPositions(tx, tree.size, BATCH_MAX)
    if (entries.length === 0) return 0
    await requireAuthenticEntries(services, tx, entries)
    const full = entries.flatMap((entry) => tree.append(hashLeaf(formatEntry(entry))))
    await upsertTiles(tx, [...full, ...tree.partialTiles()])
    await publish()
    return entries.length
  })
}

type Publication = { tree: GrowingTree; key: LogKey }

async function publishTree(
  { clock, integrityKey }: Pick<Services, 'clock' | 'integrityKey'>,
  tx: Tx,
  { tree, key }: Publication,
): Promise<void> {
  const [size, root_hash] = [tree.size, tree.root()]
  const checkpoint = { size, root_hash, note: key.signCheckpoint(size, root_hash), published_at: clock.now() }
  await insertCheckpoint(tx, { ...checkpoint, mac: computeCheckpointMac(integrityKey, checkpoint) })
}

/**
 * Reads the tree of the newest stored checkpoint, which is empty if there is none. Throws 503
 * `unavailable` if the checkpoint or the tiles were changed: a tree that contradicts a signed
 * checkpoint is never signed.
 */
export async function readTree(
  services: Pick<Services, 'integrityKey' | 'sealingKey'>,
  db: Db,
  key: LogKey,
  state: LogState,
): Promise<GrowingTree> {
  if (!hasCheckpoint(state)) return new GrowingTree(0, new Tiles([]))
  const { size, root_hash, note } = state
  if (note !== key.signCheckpoint(size, root_hash))
    throw createLogError('The newest checkpoint of the transparency log was not signed by this server.')
  await requireAuthenticCheckpoint(services, db, state)
  const tree = new GrowingTree(size, new Tiles(await listTiles(db, computeEdge(size))))
  if (tree.root().equals(root_hash)) return tree
  throw createLogError(`The tiles of the transparency log contradict its checkpoint of ${size} entries.`)
}

type Rebuilding = Publication & { length: number }

/**
 * Appends the entries that the lost checkpoint covered. Entries and tiles both have them, and have
 * to agree: whoever has kept the checkpoint would see that another tree was signed.
 */
async function rebuildTree(
  services: Pick<Services, 'integrityKey' | 'sealingKey'>,
  tx: Tx,
  { tree, key, length }: Rebuilding,
): Promise<void> {
  const { integrityKey } = services
  const walk = new LogWalk(tx, { key, integrityKey, isComplete: await hasMacs(services, tx) }, tree)
  if (length - tree.size <= REBUILT_MAX) await walk.verifyUntil(length)
  if (tree.size === length && walk.breaks.length === 0) return
  throw createLogError(
    `The checkpoint of ${length} entries of the transparency log is lost and cannot be signed again.`,
  )
}
