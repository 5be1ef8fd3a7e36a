import type { KeyObject } from 'node:crypto'
import { hashValues } from '../../platform/crypto/signed-bytes.ts'
import type { Anchor } from './chain.store.ts'
import { type FoundBreak, NO_HASH } from './chain-break.ts'
import type { ChainHead } from './chain-head.ts'
import type { LinkRow } from './link.store.ts'
import { type ChainKey, computeLinkEntryMac, computeRowMac, type Link, linkHash, linkMac } from './link.ts'
import { compareChange } from './stated-change.ts'

/**
 * The links from one anchor to the next. A link is verified with the other links of its interval,
 * so their number decides what a new statement costs.
 */
export const INTERVAL = 16

/** The index of the first link of an interval. */
export function getIntervalStart(index: number): number {
  return index - (index % INTERVAL)
}

/** Whether a link is the last of its interval. */
export function isAnchored(index: number): boolean {
  return index % INTERVAL === INTERVAL - 1
}

export function computeAnchorMac(
  key: KeyObject,
  chain: ChainKey,
  { index, hash }: Pick<Link, 'index' | 'hash'>,
): Buffer {
  return computeRowMac(key, 'anchor', chain, [index, hash])
}

/** An interval that begins at index `from`. */
export type Interval = { from: number; links: readonly LinkRow[]; anchor: Anchor | undefined; head: ChainHead }

/**
 * Verifies an interval. The anchor at its end authenticates it, because the hash of its last link
 * covers all links before. The last interval ends with the head, which `checkHead` verifies.
 */
export function checkInterval(key: KeyObject, chain: ChainKey, interval: Interval): FoundBreak[] {
  const { from, links } = interval
  return [
    ...missingLinks(interval),
    ...links.flatMap((link, nth) => checkLink(key, chain, link, from === link.index ? undefined : links[nth - 1])),
    ...checkAnchor(key, chain, interval),
  ]
}

/** Each gap is one break, at the first missing link. What is expected is the last missing link. */
function missingLinks({ from, links, anchor, head }: Interval): FoundBreak[] {
  const end = Math.min(from + INTERVAL, head.length)
  const last = end === head.length ? head.head : anchor?.hash
  const bounds = [
    ...links.map(({ index, previous_hash }) => ({ index, before: previous_hash })),
    { index: end, before: last },
  ]
  return bounds.flatMap(({ index, before }, nth): FoundBreak[] => {
    const next = nth === 0 ? from : (links[nth - 1] as LinkRow).index + 1
    return next < index ? [{ index: next, part: 'link', expected: before ?? NO_HASH, found: null }] : []
  })
}

function checkLink(key: KeyObject, chain: ChainKey, link: LinkRow, before: LinkRow | undefined): FoundBreak[] {
  return [
    ...breaksOfHash(link),
    ...(before === undefined ? [] : checkPrevious(link, before)),
    ...breaksOfRow(key, chain, link),
    ...breaksOfChange(chain, link),
  ]
}

function breaksOfHash({ index, previous_hash, hash, body, tombstone }: LinkRow): FoundBreak[] {
  if (body === null) return tombstone === null ? [{ index, part: 'link', expected: hash, found: null }] : []
  const found = linkHash(previous_hash, body)
  return found.equals(hash) ? [] : [{ index, part: 'link', expected: hash, found }]
}

/** Whether a link continues the one before, if that one is not missing. */
export function checkPrevious(
  { index, previous_hash }: Pick<Link, 'index' | 'previous_hash'>,
  before: Pick<Link, 'index' | 'hash'>,
): FoundBreak[] {
  if (before.index !== index - 1 || previous_hash?.equals(before.hash)) return []
  return [{ index, part: 'previous', expected: before.hash, found: previous_hash }]
}

function breaksOfRow(key: KeyObject, chain: ChainKey, link: LinkRow): FoundBreak[] {
  const { index, kind, change_id, at, previous_hash, hash, tombstone, mac } = link
  const ofEntry = breaksOfEntry(key, link)
  if (mac.equals(linkMac(key, chain, link))) return ofEntry
  const found = hashValues(index, kind, change_id, at, previous_hash, tombstone, mac)
  return [...ofEntry, { index, part: 'row', expected: hash, found }]
}

/** Rows of earlier versions are authenticated together with the whole log. */
function breaksOfEntry(key: KeyObject, link: LinkRow): FoundBreak[] {
  const { index, hash, entry_mac } = link
  if (entry_mac === null) return [{ index, part: 'log', expected: hash, found: null }]
  if (entry_mac.length === 0 || entry_mac.equals(computeLinkEntryMac(key, link))) return []
  return [{ index, part: 'log', expected: hash, found: hashValues(entry_mac) }]
}

function breaksOfChange(chain: ChainKey, link: LinkRow): FoundBreak[] {
  const { index, hash, change } = link
  if (change === null) return [{ index, part: 'change', expected: hash, found: null }]
  const found = compareChange(chain, link, change)
  return found === null ? [] : [{ index, part: 'change', expected: hash, found }]
}

function checkAnchor(key: KeyObject, chain: ChainKey, { from, links, anchor, head }: Interval): FoundBreak[] {
  const index = from + INTERVAL - 1
  if (index >= head.length) return []
  const last = links.find((link) => link.index === index)?.hash
  if (anchor === undefined) return [{ index, part: 'anchor', expected: last ?? NO_HASH, found: null }]
  if (!anchor.mac.equals(computeAnchorMac(key, chain, anchor)))
    return [{ index, part: 'anchor', expected: last ?? NO_HASH, found: hashValues(anchor.hash, anchor.mac) }]
  return last?.equals(anchor.hash) === false ? [{ index, part: 'anchor', expected: anchor.hash, found: last }] : []
}
