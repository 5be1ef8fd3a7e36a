import type { KeyObject } from 'node:crypto'
import { createLogError } from '../../errors/provenance.ts'
import { computeMac } from '../../platform/crypto/signed-bytes.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { findLogKey, type StoredCheckpoint, type StoredEntry, type StoredKey } from './log.store.ts'
import type { LogEntry } from './tile.ts'

/** The position is not part of it: that is proven by the tree, whose root is signed. */
export function computeEntryMac(key: KeyObject, { kind, sha256 }: LogEntry): Buffer {
  return computeMac(key, ['log entry', kind, sha256])
}

export function computeCheckpointMac(key: KeyObject, checkpoint: Omit<StoredCheckpoint, 'mac'>): Buffer {
  const { size, root_hash, note, published_at } = checkpoint
  return computeMac(key, ['log checkpoint', size, root_hash, note, published_at])
}

export function computeLogKeyMac(key: KeyObject, { origin, sealed_private_key }: Omit<StoredKey, 'mac'>): Buffer {
  return computeMac(key, ['log key', origin, sealed_private_key])
}

/**
 * Whether every authentic row has a mac. It is so from the beginning in a new installation, and
 * after an upgrade as soon as the rows of earlier versions were verified.
 */
export async function hasMacs(db: Db): Promise<boolean> {
  return ((await findLogKey(db))?.mac ?? null) !== null
}

/** The entries that are not authentic. `isComplete`: every authentic row has a mac. */
export function filterForgedEntries<Entry extends StoredEntry>(
  key: KeyObject,
  entries: readonly Entry[],
  isComplete: boolean,
): Entry[] {
  return entries.filter((entry) => (entry.mac === null ? isComplete : !entry.mac.equals(computeEntryMac(key, entry))))
}

/** Whether a checkpoint is authentic, apart from its signature. */
export function isAuthenticCheckpoint(key: KeyObject, checkpoint: StoredCheckpoint, isComplete: boolean): boolean {
  return checkpoint.mac === null ? !isComplete : checkpoint.mac.equals(computeCheckpointMac(key, checkpoint))
}

type Needed = Pick<Services, 'integrityKey'>

/** Throws 503 `unavailable` if one of the entries was not stored by this server. */
export async function requireAuthenticEntries(
  { integrityKey }: Needed,
  db: Db,
  entries: readonly StoredEntry[],
): Promise<void> {
  const isComplete = entries.some(({ mac }) => mac === null) && (await hasMacs(db))
  const [forged] = filterForgedEntries(integrityKey, entries, isComplete)
  if (forged === undefined) return
  const name = `${forged.kind} ${forged.sha256.toString('hex')}`
  throw createLogError(`The entry ${name} of the transparency log was not stored by this server.`)
}

/** Throws 503 `unavailable` if the row of a checkpoint was changed. */
export async function requireAuthenticCheckpoint(
  { integrityKey }: Needed,
  db: Db,
  checkpoint: StoredCheckpoint,
): Promise<void> {
  const isComplete = checkpoint.mac === null && (await hasMacs(db))
  if (isAuthenticCheckpoint(integrityKey, checkpoint, isComplete)) return
  throw createLogError(`The checkpoint of ${checkpoint.size} entries of the transparency log was changed.`)
}
