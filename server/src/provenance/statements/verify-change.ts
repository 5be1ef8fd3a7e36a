import type { Services } from '../../services.ts'
import { INTERVAL, intervalStart } from '../chain/chain-interval.ts'
import type { LinkRow } from '../chain/link.store.ts'
import type { ChainKey } from '../chain/link.ts'
import { type ChainState, readChainState, verifyInterval } from '../chain/read-chain-state.ts'

/** A change and the indexes of its first and its last link. */
export type LinkedChange = ChainKey & { id: string; chain: { index: number }; last_index: number }

/** The links are those of the change, in their order. They verify unless `state` is `broken`. */
type VerifiedChange = ChainState & { links: LinkRow[] }

/**
 * Verifies the chain from the record of a change to its last amendment, so that a missing amendment
 * is found, too. The cost does not depend on the length of the chain.
 */
export async function verifyChange(services: Services, change: LinkedChange): Promise<VerifiedChange> {
  const links: LinkRow[] = []
  let state = await readChainState(services, change)
  for (let from = intervalStart(change.chain.index); from <= change.last_index; from += INTERVAL) {
    const interval = await verifyInterval(services, change, Math.max(from, change.chain.index))
    state = interval.state
    links.push(...interval.links.filter(({ change_id }) => change_id === change.id))
    // Without links, the interval is after the end of the chain.
    if (state.state === 'broken' || interval.links.length === 0) break
  }
  return { ...state, links }
}
