import type { KeyObject } from 'node:crypto'
import { hashValues } from '../../platform/crypto/signed-bytes.ts'
import { type FoundBreak, NO_HASH, type StoredBreak } from './chain-break.ts'
import { type ChainKey, computeRowMac, type Link } from './link.ts'

/** The row of a chain. */
export type ChainHead = {
  length: number
  /** The hash of the last link; null without links. */
  head: Buffer | null
  /** The number of stored breaks, so that a deleted one is noticed. */
  breaks: number
  verified_length: number
  verified_at: Date | null
}

/** What bounds a chain, read at one moment. */
export type ChainEnd = {
  head: (ChainHead & { mac: Buffer }) | null
  last: Pick<Link, 'index' | 'hash'> | null
  breaks: StoredBreak[]
}

const NO_HEAD: ChainHead = { length: 0, head: null, breaks: 0, verified_length: 0, verified_at: null }

export function computeHeadMac(key: KeyObject, chain: ChainKey, head: ChainHead): Buffer {
  return computeRowMac(key, 'head', chain, [
    head.length,
    head.head,
    head.breaks,
    head.verified_length,
    head.verified_at,
  ])
}

function isAuthentic(key: KeyObject, chain: ChainKey, { head }: ChainEnd): boolean {
  return head?.mac.equals(computeHeadMac(key, chain, head)) === true
}

/**
 * The head with which a chain continues, so that a record is never lost: the stored head if it is
 * authentic, or the last link if it follows the stored head. What does not match is a break.
 */
export function computeContinuedHead(key: KeyObject, chain: ChainKey, end: ChainEnd): ChainHead {
  const { mac: _, ...trusted } =
    end.head !== null && isAuthentic(key, chain, end) ? end.head : { ...NO_HEAD, mac: null }
  const head = { ...trusted, breaks: end.breaks.length }
  if (end.last === null || end.last.index < trusted.length) return head
  return { ...head, length: end.last.index + 1, head: end.last.hash }
}

/** What does not match at the end of a chain. */
export function checkHead(key: KeyObject, chain: ChainKey, end: ChainEnd): FoundBreak[] {
  const { head, last } = end
  if (head === null)
    return last === null && end.breaks.length === 0 ? [] : [replacedHead(end, hashValues(end.breaks.length))]
  if (!isAuthentic(key, chain, end)) return [replacedHead(end, digestOfHead(end, head))]
  return [...missingBreaks(end, head), ...wrongLast(head, last)]
}

/**
 * A head that is missing or not authentic. It is replaced when the break is stored. The number of
 * breaks is part of `found`, so that the same change of the head is a new break the next time.
 */
function replacedHead({ last }: ChainEnd, found: Buffer): FoundBreak {
  return { index: last?.index ?? 0, part: 'head', expected: last?.hash ?? NO_HASH, found }
}

function digestOfHead({ breaks }: ChainEnd, head: NonNullable<ChainEnd['head']>): Buffer {
  return hashValues(
    breaks.length,
    head.length,
    head.head,
    head.breaks,
    head.verified_length,
    head.verified_at,
    head.mac,
  )
}

function missingBreaks({ breaks }: ChainEnd, head: NonNullable<ChainEnd['head']>): FoundBreak[] {
  if (head.breaks === breaks.length) return []
  const found = hashValues(head.mac, ...breaks.map(({ mac }) => mac))
  return [{ index: Math.max(0, head.length - 1), part: 'break', expected: head.head ?? NO_HASH, found }]
}

function wrongLast(head: ChainHead, last: ChainEnd['last']): FoundBreak[] {
  const expected = head.head ?? NO_HASH
  const next = last === null ? 0 : last.index + 1
  if (next < head.length) return [{ index: next, part: 'link', expected, found: null }]
  if (last === null || (next === head.length && last.hash.equals(expected))) return []
  return [{ index: last.index, part: 'head', expected, found: last.hash }]
}
