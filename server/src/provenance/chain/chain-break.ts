import type { KeyObject } from 'node:crypto'
import { hashValues } from '../../platform/crypto/signed-bytes.ts'
import { type ChainKey, computeRowMac } from './link.ts'

/**
 * A mismatch that a verification finds.
 *
 * `link`: the body does not have the hash of the link, or the link is missing. `previous`: the link
 * does not continue the one before. For these, `expected` and `found` are hashes of links.
 *
 * `row`, `change`, `anchor`, `head`, `break`: a stored row is not authentic or does not match.
 * `log`: the transparency log does not have the link. For these, `expected` is the hash of the link
 * that they belong to (zeros if it is unknown), and `found` is the SHA-256 of what is stored.
 *
 * `found` is null if something is missing.
 */
export type FoundBreak = {
  index: number
  part: 'link' | 'previous' | 'row' | 'log' | 'change' | 'anchor' | 'head' | 'break'
  expected: Buffer
  found: Buffer | null
}

export type StoredBreak = FoundBreak & {
  sequence: number
  found_at: Date
  note: string | null
  acknowledged_at: Date | null
  mac: Buffer
}

export const NO_HASH = Buffer.alloc(32)

export function computeBreakMac(key: KeyObject, chain: ChainKey, row: Omit<StoredBreak, 'mac'>): Buffer {
  const { sequence, index, part, expected, found, found_at, note, acknowledged_at } = row
  return computeRowMac(key, 'break', chain, [sequence, index, part, expected, found, found_at, note, acknowledged_at])
}

function isAuthenticBreak(key: KeyObject, chain: ChainKey, row: StoredBreak): boolean {
  return row.mac.equals(computeBreakMac(key, chain, row))
}

/** Whether a break was acknowledged, and its row was not changed in the database. */
export function isSettled(key: KeyObject, chain: ChainKey, row: StoredBreak): boolean {
  return row.acknowledged_at !== null && isAuthenticBreak(key, chain, row)
}

/** Stored breaks that were changed in the database. They stay until they are acknowledged. */
export function checkStoredBreaks(key: KeyObject, chain: ChainKey, rows: readonly StoredBreak[]): FoundBreak[] {
  return rows
    .filter((row) => !isAuthenticBreak(key, chain, row))
    .map((row) => ({ index: row.index, part: 'break', expected: NO_HASH, found: digestOfBreak(row) }))
}

function digestOfBreak(row: StoredBreak): Buffer {
  const { sequence, index, part, expected, found, found_at, note, acknowledged_at, mac } = row
  return hashValues(sequence, index, part, expected, found, found_at, note, acknowledged_at, mac)
}

/** The breaks that are not stored yet, each once. */
export function filterNewBreaks(found: readonly FoundBreak[], stored: readonly FoundBreak[]): FoundBreak[] {
  const known = new Set(stored.map(getBreakName))
  const added = new Map(found.map((one) => [getBreakName(one), one]))
  return [...added].filter(([name]) => !known.has(name)).map(([, one]) => one)
}

function getBreakName({ index, part, expected, found }: FoundBreak): string {
  return [index, part, expected.toString('hex'), found?.toString('hex')].join(' ')
}
