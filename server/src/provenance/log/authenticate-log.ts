import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import {
  findLogKey,
  findLogState,
  listCheckpoints,
  listEntries,
  listPendingEntries,
  lockLog,
  type StoredCheckpoint,
  type StoredEntry,
  updateCheckpointMac,
  updateEntryMacs,
  updateLogKeyMac,
} from './log.store.ts'
import { computeCheckpointMac, computeEntryMac, computeLogKeyMac } from './log-mac.ts'
import { appendPendingEntries } from './sequence-log.ts'
import { verifyLog } from './verify-log.ts'

const PAGE = 4096

/**
 * Authenticates entries and checkpoints of earlier versions, which the signed tree proves, and
 * states that every row has a mac from now on. Does nothing, and returns false, if the log
 * contradicts itself.
 */
export async function authenticateLog(services: Services, stopping?: AbortSignal): Promise<boolean> {
  const { sql, integrityKey } = services
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
  await sql.begin(async (tx) => {
    await lockLog(tx)
    await authenticateEntries(services, tx, await listPendingEntries(tx, PAGE))
    await authenticateCheckpoints(services, tx, await listCheckpoints(tx, length, length + PAGE))
    const key = await findLogKey(tx)
    if (key !== null) await updateLogKeyMac(tx, computeLogKeyMac(integrityKey, key))
  })
  return true
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
