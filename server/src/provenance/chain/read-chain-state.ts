import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { checkEnd, recordBreaks } from './append-link.ts'
import { findEnd } from './chain.store.ts'
import { type FoundBreak, filterNewBreaks, isSettled, NO_HASH, type StoredBreak } from './chain-break.ts'
import { type ChainEnd, type ChainHead, computeContinuedHead } from './chain-head.ts'
import { checkInterval, getIntervalStart, INTERVAL, type Interval } from './chain-interval.ts'
import { type LinkRow, listAnchors, listLinks } from './link.store.ts'
import type { ChainKey } from './link.ts'

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

/** How many links are read at once. Memory is bounded by their bodies. */
export const LINKS_AT_ONCE = 16 * INTERVAL

/** `next` is the index after the verified links. */
type VerifiedLinks = { state: ChainState; links: readonly LinkRow[]; next: number }

/**
 * Verifies the links from `first` to `last`, but at most `LINKS_AT_ONCE`, together with their
 * intervals, which end with an anchor or the head. The cost does not depend on the length of the
 * chain. A mismatch is stored: the chain is broken from then on. Reads the links after the end of
 * the chain, so that it has all links before the end.
 */
export async function verifyLinks(
  services: Services,
  chain: ChainKey,
  first: number,
  last: number,
): Promise<VerifiedLinks> {
  const { sql, integrityKey } = services
  const end = await findEnd(sql, chain)
  const head = computeContinuedHead(integrityKey, chain, end)
  const next = getIntervalStart(Math.min(last, getIntervalStart(first) + LINKS_AT_ONCE - 1)) + INTERVAL
  const intervals = await readIntervals(sql, chain, head, { from: getIntervalStart(first), to: next })
  const isMissing = first >= head.length
  const missing: FoundBreak[] = isMissing ? [{ index: first, part: 'link', expected: NO_HASH, found: null }] : []
  const found = [...missing, ...intervals.flatMap((interval) => checkInterval(integrityKey, chain, interval))]
  const links = intervals.flatMap((interval) => interval.links)
  return { state: await settleState(services, chain, end, found), links, next }
}

/** The intervals from index `from`, which begins one, up to, but not including, `to`. */
export async function readIntervals(
  db: Db,
  chain: ChainKey,
  head: ChainHead,
  { from: first, to }: { from: number; to: number },
): Promise<Interval[]> {
  const end = Math.max(first, Math.min(to, head.length))
  const [links, anchors] = await Promise.all([listLinks(db, chain, first, end), listAnchors(db, chain, first, end)])
  const anchorAt = new Map(anchors.map((anchor) => [anchor.index, anchor]))
  const byStart = Map.groupBy(links, ({ index }) => getIntervalStart(index))
  return Array.from({ length: Math.ceil((end - first) / INTERVAL) }, (_, nth) => {
    const from = first + nth * INTERVAL
    return { from, links: byStart.get(from) ?? [], anchor: anchorAt.get(from + INTERVAL - 1), head }
  })
}

/**
 * The state of a chain by its stored breaks. The head and the breaks are verified, the links are
 * not.
 */
export async function readChainState(services: Services, chain: ChainKey): Promise<ChainState> {
  return settleState(services, chain, await findEnd(services.sql, chain), [])
}

/** Stores the breaks that are new, and returns the state of the chain. */
async function settleState(
  services: Services,
  chain: ChainKey,
  end: ChainEnd,
  found: readonly FoundBreak[],
): Promise<ChainState> {
  if (filterNewBreaks([...checkEnd(services, chain, end), ...found], end.breaks).length === 0)
    return getState(services, chain, end.breaks)
  await recordBreaks(services, chain, found)
  return getState(services, chain, (await findEnd(services.sql, chain)).breaks)
}

function getState({ integrityKey }: Services, chain: ChainKey, rows: readonly StoredBreak[]): ChainState {
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
