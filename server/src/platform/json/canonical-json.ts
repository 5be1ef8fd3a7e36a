import canonicalize from 'canonicalize'

/**
 * The canonical form of a JSON value (RFC 8785, JCS). Throws for values that JSON does not have.
 */
export function toCanonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('The value has no JSON form.')
  return text
}
