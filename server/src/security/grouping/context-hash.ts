import { hash, type KeyObject } from 'node:crypto'

const CONTEXT_BYTES = 16

/**
 * The flagged text as hex that tells equal texts and nothing else: it may be a secret, and a short one could be guessed. The key
 * comes first and is of fixed length; that a longer text's hash could be derived from one's own does no harm here.
 */
export function contextHash(key: KeyObject, context: string): string {
  return hash('sha256', key.export().toString('hex') + context, 'buffer').toString('hex', 0, CONTEXT_BYTES)
}
