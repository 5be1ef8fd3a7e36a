import { hash, type KeyObject } from 'node:crypto'

const CONTEXT_BYTES = 16

/** The flagged text as hex. */
export type ContextHash = (context: string) => string

/**
 * Hashes flagged text so that equal texts can be told and nothing else: it may be a secret, and a short one could be guessed. The
 * key comes first and is of fixed length; half of the hash is kept, so that no longer text's can be derived from it.
 */
export function contextHasher(key: KeyObject): ContextHash {
  const prefix = key.export().toString('hex')
  return (context) => hash('sha256', prefix + context, 'buffer').toString('hex', 0, CONTEXT_BYTES)
}
