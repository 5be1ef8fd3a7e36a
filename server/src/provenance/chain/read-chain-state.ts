import type { Services } from '../../services.ts'
import { readEnd } from './chain.store.ts'
import { type FoundBreak, isSettled, NO_HASH, newBreaks, type StoredBreak } from './chain-break.ts'
import { type ChainEnd, continuedHead } from './chain-head.ts'
import { breaksOfInterval, INTERVAL, intervalStart } from './chain-interval.ts'
import { type LinkRow, readAnchors, readLinks } from './link.store.ts'
import type { ChainKey } from './link.ts'
import { breaksAround, storeBreaks } from './store-breaks.ts'

/**
 * A mismatch. Hashes are lower-case hexadecimal. For a changed or missing link, they are hashes of
 * links. Otherwise `expected` is the hash of the link that a row belongs to, and `found` is the
 * SHA-256 of what is stored. `found` is null if something is missing.
 */
export type ChainBreak = { index: number; expected: string; found: string | null }

/**
 * `intact`: statements may be issued. `broken`: a mismatch was found and not acknowledged.
 * `acknowledged`: an administrator recorded what happened; later statements name the breaks.
 */
export type ChainState = {
  state: 'intact' | 'broken' | 'acknowledged'
  breaks: (ChainBreak & { found_at: string; note: string | null; acknowledged_at: string | null })[]
}

type VerifiedInterval = { state: ChainState; links: readonly LinkRow[] }

/**
 * Verifies the link at `index` together with its interval, which ends with an anchor or the head,
 * and returns the links of the interval. The cost does not depend on the length of the chain. A
 * mismatch is stored: the chain is broken from then on.
 */
export async function verifyInterval(services: Services, chain: ChainKey, index: number): Promise<VerifiedInterval> {
  const end = await readEnd(services.sql, chain)
  const interval = await readInterval(services, chain, end, index)
  const missing = index >= interval.head.length ? [missingLink(index)] : []
  const found = [...missing, ...breaksOfInterval(services.integrityKey, chain, interval)]
  return { state: await settleState(services, chain, end, found), links: interval.links }
}

/** Reads the interval after the end of the chain, so that it has all links before the end. */
async function readInterval({ sql, integrityKey }: Services, chain: ChainKey, end: ChainEnd, index: number) {
  const head = continuedHead(integrityKey, chain, end)
  const from = intervalStart(index)
  const [links, [anchor]] = await Promise.all([
    readLinks(sql, chain, from, Math.min(from + INTERVAL, head.length)),
    readAnchors(sql, chain, from + INTERVAL - 1, from + INTERVAL),
  ])
  return { from, links, anchor, head }
}

function missingLink(index: number): FoundBreak {
  return { index, part: 'link', expected: NO_HASH, found: null }
}

/**
 * The state of a chain by its stored breaks. The head and the breaks are verified, the links are
 * not.
 */
export async function readChainState(services: Services, chain: ChainKey): Promise<ChainState> {
  return settleState(services, chain, await readEnd(services.sql, chain), [])
}

/** Stores the breaks that are new, and returns the state of the chain. */
async function settleState(
  services: Services,
  chain: ChainKey,
  end: ChainEnd,
  found: readonly FoundBreak[],
): Promise<ChainState> {
  if (newBreaks([...breaksAround(services, chain, end), ...found], end.breaks).length === 0)
    return stateOf(services, chain, end.breaks)
  await storeBreaks(services, chain, found)
  return stateOf(services, chain, (await readEnd(services.sql, chain)).breaks)
}

function stateOf({ integrityKey }: Services, chain: ChainKey, rows: readonly StoredBreak[]): ChainState {
  const isBroken = rows.some((row) => !isSettled(integrityKey, chain, row))
  const state = isBroken ? 'broken' : rows.length > 0 ? 'acknowledged' : 'intact'
  return { state, breaks: rows.map(toShown) }
}

function toShown({
  index,
  expected,
  found,
  found_at,
  note,
  acknowledged_at,
}: StoredBreak): ChainState['breaks'][number] {
  return {
    index,
    expected: expected.toString('hex'),
    found: found?.toString('hex') ?? null,
    // A time that was changed in the database may be invalid. toISOString would throw.
    found_at: found_at.toJSON(),
    note,
    acknowledged_at: acknowledged_at?.toJSON() ?? null,
  }
}
