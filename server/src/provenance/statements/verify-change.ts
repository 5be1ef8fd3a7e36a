import type { Services } from '../../services.ts'
import { INTERVAL, intervalStart } from '../chain/chain-interval.ts'
import type { LinkRow } from '../chain/link.store.ts'
import type { ChainKey } from '../chain/link.ts'
import { type ChainState, verifyInterval } from '../chain/read-chain-state.ts'

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
    const interval = await verifyInterval(services, change, at)
    links.push(...interval.links.filter(({ change_id }) => change_id === change.id))
    at = intervalStart(at) + INTERVAL
    // An interval without links is after the end of the chain.
    const isEnd = at > change.last_index || interval.links.length === 0
    if (isEnd || interval.state.state === 'broken') return { ...interval.state, links }
  }
}
