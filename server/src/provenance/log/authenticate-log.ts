import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import {
  findLogState,
  insertLogEntry,
  listCheckpoints,
  listEntries,
  listPendingEntries,
  lockLog,
  type StoredCheckpoint,
  type StoredEntry,
  updateCheckpointMac,
  updateEntryMacs,
} from './log.store.ts'
import { computeCheckpointMac, computeEntryMac, MACS_ENTRY } from './log-mac.ts'
import { appendPendingEntries } from './sequence-log.ts'
import { verifyLog } from './verify-log.ts'

const PAGE = 4096

/**
 * Authenticates entries and checkpoints of earlier versions, which the signed tree proves. Does
 * nothing, and returns false, if the log contradicts itself.
 */
export async function authenticateLog(services: Services, stopping?: AbortSignal): Promise<boolean> {
  const { sql } = services
  await appendPendingEntries(services)
  if ((await verifyLog(services, undefined, stopping)).length > 0) return false
  const { length } = await findLogState(sql)
  for (let first = 0; first < length; first += PAGE) {
    stopping?.throwIfAborted()
    await sql.begin(async (tx) => {
      await authenticateEntries(services, tx, await listEntries(tx, first, PAGE))
      await authenticateCheckpoints(services, tx, await listCheckpoints(tx, first - 1, first + PAGE))
    })
  }
  return true
}

/**
 * Authenticates what was added to the log meanwhile, and states in the log, for good, that every
 * row has a mac from now on.
 */
export async function completeMacs(services: Services): Promise<void> {
  const { sql, integrityKey } = services
  await sql.begin(async (tx) => {
    await lockLog(tx)
    const first = Math.max(0, (await findLogState(tx)).length - PAGE)
    await authenticateEntries(services, tx, await listEntries(tx, first, PAGE))
    await authenticateCheckpoints(services, tx, await listCheckpoints(tx, first - 1, first + PAGE))
    await authenticateEntries(services, tx, await listPendingEntries(tx, PAGE))
    await insertLogEntry(tx, MACS_ENTRY, computeEntryMac(integrityKey, MACS_ENTRY))
  })
  await appendPendingEntries(services)
}

type Needed = Pick<Services, 'integrityKey'>

async function authenticateEntries({ integrityKey }: Needed, tx: Tx, entries: readonly StoredEntry[]): Promise<void> {
  const open = entries.filter(({ mac }) => mac === null)
  if (open.length === 0) return
  await updateEntryMacs(
    tx,
    open.map((entry) => ({ ...entry, mac: computeEntryMac(integrityKey, entry) })),
  )
}

async function authenticateCheckpoints(
  { integrityKey }: Needed,
  tx: Tx,
  checkpoints: readonly StoredCheckpoint[],
): Promise<void> {
  for (const checkpoint of checkpoints.filter(({ mac }) => mac === null))
    await updateCheckpointMac(tx, { size: checkpoint.size, mac: computeCheckpointMac(integrityKey, checkpoint) })
}
