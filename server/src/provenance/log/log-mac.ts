import { hash, type KeyObject } from 'node:crypto'
import { createLogError } from '../../errors/provenance.ts'
import { openSealedText, SealError } from '../../platform/crypto/sealed-text.ts'
import { computeMac } from '../../platform/crypto/signed-bytes.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { findLogKey, hasLogEntry, type StoredCheckpoint, type StoredEntry, type StoredKey } from './log.store.ts'
import type { LogEntry } from './tile.ts'

/** The position is not part of it: that is proven by the tree, whose root is signed. */
export function computeEntryMac(key: KeyObject, { kind, sha256 }: LogEntry): Buffer {
  return computeMac(key, ['log entry', kind, sha256])
}

export function computeCheckpointMac(key: KeyObject, checkpoint: Omit<StoredCheckpoint, 'mac'>): Buffer {
  const { size, root_hash, note, published_at } = checkpoint
  return computeMac(key, ['log checkpoint', size, root_hash, note, published_at])
}

/**
 * The entry that says that every row of an earlier version which is authentic has a mac. It cannot
 * be taken back: without it, the log contradicts its later checkpoints.
 */
export const MACS_ENTRY: LogEntry = {
  kind: 'statement',
  sha256: hash('sha256', 'shiplock.dev/log-entry/macs/v1', 'buffer'),
}

/**
 * What the private key of the log is sealed for. `isComplete`: every row had a mac when the log was
 * created. Only the secret key can make a log of the one kind one of the other.
 */
export function formatKeyLabel(origin: string, isComplete: boolean): string {
  return isComplete ? `log key ${origin} since macs` : `log key ${origin}`
}

/**
 * Whether every authentic row has a mac. It is so from the beginning in a new installation, and
 * after an upgrade as soon as the rows of earlier versions were verified. The server's role cannot
 * undo it. The owner of the database can after an upgrade, by deleting an entry of the log.
 */
export async function hasMacs({ sealingKey }: Pick<Services, 'sealingKey'>, db: Db): Promise<boolean> {
  if (await hasLogEntry(db, MACS_ENTRY)) return true
  const key = await findLogKey(db)
  return key !== null && !isOfEarlierVersion(sealingKey, key)
}

function isOfEarlierVersion(sealingKey: KeyObject, { origin, sealed_private_key }: StoredKey): boolean {
  try {
    openSealedText(sealingKey, formatKeyLabel(origin, false), sealed_private_key)
    return true
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
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

type Needed = Pick<Services, 'integrityKey' | 'sealingKey'>

/** Throws 503 `unavailable` if one of the entries was not stored by this server. */
export async function requireAuthenticEntries(
  services: Needed,
  db: Db,
  entries: readonly StoredEntry[],
): Promise<void> {
  const isComplete = entries.some(({ mac }) => mac === null) && (await hasMacs(services, db))
  const [forged] = filterForgedEntries(services.integrityKey, entries, isComplete)
  if (forged === undefined) return
  const name = `${forged.kind} ${forged.sha256.toString('hex')}`
  throw createLogError(`The entry ${name} of the transparency log was not stored by this server.`)
}

/** Throws 503 `unavailable` if the row of a checkpoint was changed. */
export async function requireAuthenticCheckpoint(
  services: Needed,
  db: Db,
  checkpoint: StoredCheckpoint,
): Promise<void> {
  const isComplete = checkpoint.mac === null && (await hasMacs(services, db))
  if (isAuthenticCheckpoint(services.integrityKey, checkpoint, isComplete)) return
  throw createLogError(`The checkpoint of ${checkpoint.size} entries of the transparency log was changed.`)
}
