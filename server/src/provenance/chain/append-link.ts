import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { insertLogEntry } from '../log/log.store.ts'
import { findEnd, insertBreak, insertLink, lockChain, upsertAnchor, upsertHead } from './chain.store.ts'
import { checkStoredBreaks, computeBreakMac, type FoundBreak, filterNewBreaks } from './chain-break.ts'
import { type ChainEnd, type ChainHead, checkHead, computeContinuedHead, computeHeadMac } from './chain-head.ts'
import { computeAnchorMac, isAnchored } from './chain-interval.ts'
import {
  type ChainKey,
  type ChainPosition,
  computeLinkEntryMac,
  getEntry,
  getPosition,
  type Link,
  linkHash,
  linkMac,
  type NewLink,
} from './link.ts'

/**
 * Appends a record or an amendment to a repository's chain, in the caller's transaction. The chain
 * stays locked until the transaction ends.
 *
 * A fact is never lost: if the end of the chain does not verify, the link continues what is stored,
 * and the chain is broken from then on.
 */
export async function appendLink(
  services: Pick<Services, 'clock' | 'integrityKey'>,
  tx: Tx,
  chain: ChainKey,
  { kind, change_id, at, body: document }: NewLink,
): Promise<ChainPosition> {
  const { integrityKey } = services
  await lockChain(tx, chain)
  const end = await settleEnd(services, tx, chain)
  const { length: index, head: previous_hash } = end
  const body = toCanonicalJson(document)
  const hash = linkHash(previous_hash, body)
  const link: Link = { index, kind, change_id, at, previous_hash, hash, body, tombstone: null }
  await insertLink(tx, chain, link, linkMac(integrityKey, chain, link))
  if (isAnchored(index))
    await upsertAnchor(tx, chain, { index, hash, mac: computeAnchorMac(integrityKey, chain, { index, hash }) })
  const head = { ...end, length: index + 1, head: hash }
  await upsertHead(tx, chain, head, computeHeadMac(integrityKey, chain, head))
  await insertLogEntry(tx, getEntry(link), computeLinkEntryMac(integrityKey, link))
  return getPosition({ index, hash, previous_hash })
}

type Needed = Pick<Services, 'clock' | 'integrityKey'>

/** What does not match at the end of a chain and in its stored breaks. */
export function checkEnd({ integrityKey }: Needed, chain: ChainKey, end: ChainEnd): FoundBreak[] {
  return [...checkHead(integrityKey, chain, end), ...checkStoredBreaks(integrityKey, chain, end.breaks)]
}

/**
 * Stores the breaks that are new, and returns the head with which the locked chain continues. The
 * caller stores the head.
 */
export async function settleEnd(
  services: Needed,
  tx: Tx,
  chain: ChainKey,
  found: readonly FoundBreak[] = [],
): Promise<ChainHead> {
  const end = await findEnd(tx, chain)
  const added = filterNewBreaks([...checkEnd(services, chain, end), ...found], end.breaks)
  const first = (end.breaks.at(-1)?.sequence ?? -1) + 1
  const found_at = services.clock.now()
  for (const [nth, one] of added.entries()) {
    const row = { ...one, sequence: first + nth, found_at, note: null, acknowledged_at: null }
    await insertBreak(tx, chain, { ...row, mac: computeBreakMac(services.integrityKey, chain, row) })
  }
  const head = computeContinuedHead(services.integrityKey, chain, end)
  return { ...head, breaks: head.breaks + added.length }
}

/** Stores breaks that a verification found, each once. The chain is broken from then on. */
export async function recordBreaks(
  services: Needed & Pick<Services, 'sql'>,
  chain: ChainKey,
  found: readonly FoundBreak[],
): Promise<void> {
  await services.sql.begin(async (tx) => {
    await lockChain(tx, chain)
    const head = await settleEnd(services, tx, chain, found)
    await upsertHead(tx, chain, head, computeHeadMac(services.integrityKey, chain, head))
  })
}
