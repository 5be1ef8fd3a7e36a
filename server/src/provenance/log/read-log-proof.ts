import { createLogError } from '../../errors/provenance.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type FoundEntry, findEntry, hasNewestCheckpoint, listTiles, type StoredCheckpoint } from './log.store.ts'
import { requireAuthenticCheckpoint, requireAuthenticEntries } from './log-mac.ts'
import {
  computeConsistencyRanges,
  computeInclusionRanges,
  hashOfSubtrees,
  type Range,
  splitRange,
} from './merkle-tree.ts'
import { appendPendingEntries } from './sequence-log.ts'
import { formatEntry, getTile, type LogEntry, Tiles } from './tile.ts'

/** Proves that an entry is in the log. Hashes are base64. */
export type LogProof = {
  origin: string
  /** The text of the entry. */
  entry: string
  leaf_index: number
  tree_size: number
  /** RFC 6962 §2.1.1. */
  inclusion_proof: string[]
  /** RFC 6962 §2.1.2, from the given size; null without one. */
  consistency_proof: string[] | null
  /** The newest checkpoint, a signed note. */
  checkpoint: string
}

/**
 * Reads the proof that an entry is in the newest checkpoint, and with `checkpointSize` that this
 * checkpoint extends the earlier one of that size. A pending entry is added to the log first, and
 * a lost checkpoint is signed again. Throws 400 `invalid_request` if `checkpointSize` exceeds the
 * size of the log, and 503 `unavailable` if the stored log contradicts itself or was changed.
 */
export async function readLogProof(services: Services, entry: LogEntry, checkpointSize?: number): Promise<LogProof> {
  const { leaf_index, entry_mac, ...checkpoint } = await findInLog(services, entry)
  await requireAuthenticEntries(services, services.sql, [{ ...entry, mac: entry_mac }])
  await requireAuthenticCheckpoint(services, services.sql, checkpoint)
  const { size, note } = checkpoint
  if (checkpointSize !== undefined && checkpointSize > size)
    throw createInvalidFieldError('/query/checkpoint_size', `must not exceed the size of the log, which is ${size}`)
  const inclusion = computeInclusionRanges(leaf_index, { start: 0, end: size })
  const consistency = checkpointSize === undefined ? null : computeConsistencyRanges(checkpointSize, size)
  const hashes = await readHashes(services.sql, [...inclusion, ...(consistency ?? [])])
  return {
    origin: note.slice(0, note.indexOf('\n')),
    entry: formatEntry(entry),
    leaf_index,
    tree_size: size,
    inclusion_proof: hashes.slice(0, inclusion.length),
    consistency_proof: consistency && hashes.slice(inclusion.length),
    checkpoint: note,
  }
}

type Found = FoundEntry & StoredCheckpoint & { leaf_index: number }

async function findInLog(services: Services, entry: LogEntry): Promise<Found> {
  const found = await findEntry(services.sql, entry)
  if (isInLog(found)) return found
  await appendPendingEntries(services)
  const added = await findEntry(services.sql, entry)
  if (isInLog(added)) return added
  throw createLogError(`The transparency log has no entry for the ${entry.kind} ${entry.sha256.toString('hex')}.`)
}

function isInLog(found: FoundEntry | null): found is Found {
  return found !== null && found.leaf_index !== null && hasNewestCheckpoint(found)
}

/** The hashes of ranges in base64. Reads all tiles that they need at once. */
async function readHashes(db: Db, ranges: Range[]): Promise<string[]> {
  const subtrees = ranges.map(splitRange)
  const names = subtrees.flat().map(getTile)
  const unique = new Map(names.map((name) => [`${name.level}/${name.index}`, name]))
  const tiles = new Tiles(await listTiles(db, [...unique.values()]))
  return subtrees.map((parts) => hashOfSubtrees(parts.map((part) => tiles.hashOf(part))).toString('base64'))
}
