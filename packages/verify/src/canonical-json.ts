import { Refused } from './checks.ts'

/**
 * The canonical form of a parsed JSON value (RFC 8785, JCS). RFC 8785 defines numbers and strings
 * as `JSON.stringify` writes them, and sorts keys by UTF-16 code units, as `sort` does.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) return canonicalObject(value as Record<string, unknown>)
  if (typeof value === 'string') checkUnicode(value)
  return JSON.stringify(value)
}

function canonicalObject(object: Record<string, unknown>): string {
  const members = Object.keys(object)
    .sort()
    .map((key) => `${canonicalJson(key)}:${canonicalJson(object[key])}`)
  return `{${members.join(',')}}`
}

function checkUnicode(text: string): void {
  if (!text.isWellFormed()) throw new Refused('it contains half of a surrogate pair, which has no canonical form')
}
