import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { chainNotBroken } from '../../errors/commands.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { invalidRequest } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { settleEnd } from './append-link.ts'
import { findEnd, lockChain, updateAcknowledged, upsertAnchor, upsertHead } from './chain.store.ts'
import { computeBreakMac, isSettled, type StoredBreak } from './chain-break.ts'
import { computeHeadMac } from './chain-head.ts'
import { computeAnchorMac } from './chain-interval.ts'
import { findHash } from './link.store.ts'
import type { ChainKey } from './link.ts'
import { readChainState } from './read-chain-state.ts'
import { verifyChain } from './verify-chains.job.ts'

type Acknowledgement = { principal: Principal; note: string }

const NOTE_CHARS_MAX = 2000

/**
 * Records what happened to a broken chain. Statements are issued again, and name the breaks. The
 * whole chain is verified first, so that one acknowledgement covers everything that does not match.
 * Returns the breaks that it covers. Throws 400 for an invalid note, and 409 `chain_not_broken` if
 * no break was found before.
 */
export async function settleBreaks(
  services: Services,
  chain: ChainKey,
  { principal, note }: Acknowledgement,
): Promise<StoredBreak[]> {
  const reason = requireNote(note)
  if ((await readChainState(services, chain)).state !== 'broken') throw chainNotBroken()
  await verifyChain(services, chain)
  const at = services.clock.now()
  return services.sql.begin(async (tx) => {
    const breaks = await updateBreaks(services, tx, chain, { note: reason, acknowledged_at: at })
    const object = { type: 'chain', id: `${chain.provider}/${chain.repository_id}` }
    const details = { breaks: breaks.map(({ index, part }) => ({ index, part })) }
    await insertAuditEntry(tx, chain.org_id, { principal, action: 'chain.acknowledge', object, reason, details }, at)
    return breaks
  })
}

/** Throws 400 for an invalid note. */
export function requireNote(note: string): string {
  const reason = note.trim()
  if (reason.length < 1 || reason.length > NOTE_CHARS_MAX)
    throw invalidRequest(`A note must have 1 to ${NOTE_CHARS_MAX} characters`)
  return reason
}

async function updateBreaks(
  services: Services,
  tx: Tx,
  chain: ChainKey,
  settled: Pick<StoredBreak, 'note' | 'acknowledged_at'>,
): Promise<StoredBreak[]> {
  const { integrityKey } = services
  await lockChain(tx, chain)
  const head = await settleEnd(services, tx, chain)
  const { breaks } = await findEnd(tx, chain)
  const open = breaks.filter((row) => !isSettled(integrityKey, chain, row)).map((row) => ({ ...row, ...settled }))
  if (open.length === 0) throw chainNotBroken()
  for (const row of open)
    await updateAcknowledged(tx, chain, { ...row, mac: computeBreakMac(integrityKey, chain, row) })
  for (const { part, index } of open) if (part === 'anchor') await replaceAnchor(services, tx, chain, index)
  await upsertHead(tx, chain, head, computeHeadMac(integrityKey, chain, head))
  return open
}

/**
 * From now on, the anchor authenticates the links as they are, so that a further change is found.
 */
async function replaceAnchor({ integrityKey }: Services, tx: Tx, chain: ChainKey, index: number): Promise<void> {
  const hash = await findHash(tx, chain, index)
  if (hash !== null)
    await upsertAnchor(tx, chain, { index, hash, mac: computeAnchorMac(integrityKey, chain, { index, hash }) })
}
