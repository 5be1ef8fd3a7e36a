import type { Tx } from '../../platform/db/sql.ts'
import { canonicalJson } from '../../platform/json/canonical-json.ts'
import type { Services } from '../../services.ts'
import { addLogEntry } from '../log/log-entry.store.ts'
import { insertLink, lockHead } from './chain.store.ts'
import { type ChainKey, type ChainPosition, linkHash, type NewLink } from './link.ts'

/**
 * Appends a record or an amendment to a repository's chain, in the caller's transaction. The chain
 * stays locked until the transaction ends.
 */
export async function appendLink(
  _services: Pick<Services, 'integrityKey'>,
  tx: Tx,
  chain: ChainKey,
  link: NewLink,
): Promise<ChainPosition> {
  const { length, head } = await lockHead(tx, chain)
  const body = canonicalJson(link.body)
  const hash = linkHash(head, body)
  await insertLink(tx, chain, { ...link, index: length, body, hash })
  await addLogEntry(tx, { kind: link.kind === 'record' ? 'change' : 'amendment', sha256: hash })
  return { index: length, hash: hash.toString('hex'), previous_hash: head?.toString('hex') ?? null }
}
