import type { Services } from '../../services.ts'
import type { LinkRow } from '../chain/link.store.ts'
import type { ChainKey } from '../chain/link.ts'
import { type ChainState, verifyLinks } from '../chain/read-chain-state.ts'

/** A change and the indexes of its first and its last link. */
type LinkedChange = ChainKey & { id: string; chain: { index: number }; last_index: number }

/** The links are those of the change, in their order. They verify unless `state` is `broken`. */
type VerifiedChange = ChainState & { links: LinkRow[] }

/**
 * Verifies the chain from the record of a change to its last amendment, so that a missing amendment
 * is found, too. The cost does not depend on the length of the chain.
 */
export async function verifyChange(services: Services, change: LinkedChange): Promise<VerifiedChange> {
  const links: LinkRow[] = []
  let at = change.chain.index
  while (true) {
    const part = await verifyLinks(services, change, at, change.last_index)
    links.push(...part.links.filter(({ change_id }) => change_id === change.id))
    at = part.next
    // There are no links after the end of the chain.
    const isEnd = at > change.last_index || part.links.length === 0
    if (isEnd || part.state.state === 'broken') return { ...part.state, links }
  }
}
