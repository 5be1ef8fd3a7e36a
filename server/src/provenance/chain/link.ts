import { createHash } from 'node:crypto'

export type ChainKey = { org_id: string; provider: string; repository_id: string }

/** A position in a chain, as the API shows it. Hashes are lower-case hexadecimal. */
export type ChainPosition = { index: number; hash: string; previous_hash: string | null }

/** What is appended to a chain. The body of an amendment is `{change, at, kind, facts}`. */
export type NewLink = { kind: 'record' | 'amendment'; change_id: string; body: object; at: Date }

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
