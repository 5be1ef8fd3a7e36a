import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { Refused } from './checks.ts'
import { type Fields, HEX_256 } from './fields.ts'

/** A position in the hash chain of a repository's records. */
export type ChainPosition = { index: number; hash: string; previous: string | null }

const NO_LINK = Buffer.alloc(32)

export function readPosition(fields: Fields): ChainPosition {
  const index = fields.count('index')
  const previous = fields.has('previous_hash') ? fields.string('previous_hash', HEX_256) : null
  if ((index === 0) !== (previous === null)) throw fields.refusal('previous_hash', 'null for index 0 only')
  return { index, hash: fields.string('hash', HEX_256), previous }
}

/**
 * The hash of a link covers the hash of the link before it and the canonical body. `what` names the
 * body in the error message.
 */
export function checkLink({ hash, previous }: ChainPosition, body: unknown, what: string): void {
  const computed = createHash('sha256')
    .update(previous === null ? NO_LINK : Buffer.from(previous, 'hex'))
    .update(canonicalJson(body))
    .digest('hex')
  if (computed !== hash) throw new Refused(`the hash of ${what} is ${computed}, and the chain has ${hash}`)
}
