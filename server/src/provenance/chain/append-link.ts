import type { Tx } from '../../platform/db/sql.ts'
import { toCanonicalJson } from '../../platform/json/canonical-json.ts'
import type { Services } from '../../services.ts'
import { insertLogEntry } from '../log/log-entry.store.ts'
import { insertLink, lockChain, upsertAnchor, upsertHead } from './chain.store.ts'
import { computeHeadMac } from './chain-head.ts'
import { computeAnchorMac, isAnchored } from './chain-interval.ts'
import { type ChainKey, type ChainPosition, getPosition, type Link, linkHash, linkMac, type NewLink } from './link.ts'
import { settleEnd } from './store-breaks.ts'

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
  await lockChain(tx, chain)
  const end = await settleEnd(services, tx, chain)
  const { length: index, head: previous_hash } = end
  const body = toCanonicalJson(document)
  const hash = linkHash(previous_hash, body)
  await storeLink(services, tx, chain, { index, kind, change_id, at, previous_hash, hash, body, tombstone: null })
  const head = { ...end, length: index + 1, head: hash }
  await upsertHead(tx, chain, head, computeHeadMac(services.integrityKey, chain, head))
  await insertLogEntry(tx, { kind: kind === 'record' ? 'change' : 'amendment', sha256: hash })
  return getPosition({ index, hash, previous_hash })
}

async function storeLink({ integrityKey }: Pick<Services, 'integrityKey'>, tx: Tx, chain: ChainKey, link: Link) {
  await insertLink(tx, chain, link, linkMac(integrityKey, chain, link))
  if (isAnchored(link.index))
    await upsertAnchor(tx, chain, { ...link, mac: computeAnchorMac(integrityKey, chain, link) })
}
