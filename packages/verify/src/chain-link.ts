import { sha256 } from '#crypto'
import { fromHex, toHex, utf8 } from './bytes.ts'
import { canonicalJson } from './canonical-json.ts'
import { Refused } from './checks.ts'
import { type Fields, HEX_256 } from './fields.ts'

/** A position in the hash chain of a repository's records. */
export type ChainPosition = { index: number; hash: string; previous: string | null }

const NO_LINK = '00'.repeat(32)

export function readPosition(fields: Fields): ChainPosition {
  const index = fields.count('index')
  const previous = fields.has('previous_hash') ? fields.string('previous_hash', HEX_256) : null
  if ((index === 0) !== (previous === null)) throw fields.refusal('previous_hash', 'null for index 0 only')
  return { index, hash: fields.string('hash', HEX_256), previous }
}

/** A break of the chain that the statement names, because an administrator has acknowledged it. */
export type NamedBreak = { index: number; expected: string; found: string }

/** The acknowledged breaks at which one hash was found instead of another one. */
export function readBreaks(predicate: Fields): NamedBreak[] {
  if (!predicate.has('breaks')) return []
  const breaks = predicate.objects('breaks').filter((one) => one.has('acknowledged_at') && one.has('found'))
  return breaks.map((one) => ({
    index: one.count('index'),
    expected: one.string('expected', HEX_256),
    found: one.string('found', HEX_256),
  }))
}

export function isNamed(breaks: readonly NamedBreak[], { index, expected, found }: NamedBreak): boolean {
  return breaks.some((one) => one.index === index && one.expected === expected && one.found === found)
}

/**
 * The hash of a link covers the hash of the link before it and the canonical body. `what` names the
 * body in the error message. Returns whether the hash is right. A wrong one is accepted only if the
 * statement names this break.
 */
export async function checkLink(
  { index, hash, previous }: ChainPosition,
  body: unknown,
  { what, breaks }: { what: string; breaks: readonly NamedBreak[] },
): Promise<boolean> {
  const computed = toHex(await sha256(fromHex(previous ?? NO_LINK), utf8(canonicalJson(body))))
  if (computed === hash) return true
  if (isNamed(breaks, { index, expected: hash, found: computed })) return false
  throw new Refused(`the hash of ${what} is ${computed}, and the chain has ${hash}`)
}
