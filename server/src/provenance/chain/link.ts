import { createHash, type KeyObject } from 'node:crypto'
import { computeMac, type RowValue } from '../../platform/crypto/signed-bytes.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import { computeEntryMac } from '../log/log-mac.ts'
import type { LogEntry } from '../log/tile.ts'

/** The chain of a repository. */
export type ChainKey = RepositoryKey

/** A position in a chain, as the API shows it. Hashes are lower-case hexadecimal. */
export type ChainPosition = { index: number; hash: string; previous_hash: string | null }

/** The position of a stored link. */
export function getPosition({
  index,
  hash,
  previous_hash,
}: Pick<Link, 'index' | 'hash' | 'previous_hash'>): ChainPosition {
  return { index, hash: hash.toString('hex'), previous_hash: previous_hash?.toString('hex') ?? null }
}

/** What is appended to a chain. The body of an amendment is `{change, at, kind, facts}`. */
export type NewLink = { kind: 'record' | 'amendment'; change_id: string; body: object; at: Date }

/** A stored link. It has either a body or, after retention has removed the body, a tombstone. */
export type Link = {
  index: number
  kind: NewLink['kind']
  change_id: string
  at: Date
  previous_hash: Buffer | null
  hash: Buffer
  /** Canonical JSON (RFC 8785). */
  body: string | null
  /** Canonical JSON of a `Tombstone`. */
  tombstone: string | null
}

const NO_LINK = Buffer.alloc(32)

/**
 * SHA-256 of the previous link's hash and the canonical body. Without a previous link: 32 zero
 * bytes.
 */
export function linkHash(previous: Buffer | null, body: string): Buffer {
  return createHash('sha256')
    .update(previous ?? NO_LINK)
    .update(body)
    .digest()
}

/** Authenticates a row that belongs to a chain. */
export function computeRowMac(key: KeyObject, table: string, chain: ChainKey, values: readonly RowValue[]): Buffer {
  return computeMac(key, [table, chain.org_id, chain.provider, chain.repository_id, ...values])
}

/** The HMAC of a link covers its body by the hash. */
export function linkMac(key: KeyObject, chain: ChainKey, link: Omit<Link, 'body'>): Buffer {
  const { index, kind, change_id, at, previous_hash, hash, tombstone } = link
  return computeRowMac(key, 'link', chain, [index, kind, change_id, at, previous_hash, hash, tombstone])
}

/** The entry of a link in the transparency log. */
export function getEntry({ kind, hash }: Pick<Link, 'kind' | 'hash'>): LogEntry {
  return { kind: kind === 'record' ? 'change' : 'amendment', sha256: hash }
}

export function computeLinkEntryMac(key: KeyObject, link: Pick<Link, 'kind' | 'hash'>): Buffer {
  return computeEntryMac(key, getEntry(link))
}
