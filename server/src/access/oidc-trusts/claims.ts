/** The claims of a token (RFC 7519 §4). Their types are not checked. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * A claim as text. Issuers write some ids as numbers and some flags as booleans, so these count as
 * their JSON text. Null for an absent claim, an empty text and every other type.
 */
export function getClaimText(claims: Claims, name: string): string | null {
  return Object.hasOwn(claims, name) ? toText(claims[name]) : null
}

/** The texts of a claim whose value is one text or a list of texts. */
export function getClaimTexts(claims: Claims, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : null
  const items: unknown[] = Array.isArray(value) ? value : [value]
  return items.map(toText).filter((text) => text !== null)
}

/** A claim as text that has the form, or null. */
export function getClaimOfForm(claims: Claims, name: string, form: RegExp): string | null {
  const text = getClaimText(claims, name)
  return text !== null && form.test(text) ? text : null
}

/** A claim as text of at most `charsMax` characters; the rest is cut off. */
export function getClaimStart(claims: Claims, name: string, charsMax: number): string | null {
  return getClaimText(claims, name)?.slice(0, charsMax).toWellFormed() ?? null
}

/** A claim as an integer from 1 to `max`, or null. */
export function getClaimNumber(claims: Claims, name: string, max: number): number | null {
  const text = getClaimOfForm(claims, name, /^[1-9]\d{0,15}$/)
  return text !== null && Number(text) <= max ? Number(text) : null
}

const KEPT_CHARS_MAX = 500

/** The named claims that are present, as texts of bounded length. */
export function selectClaims(claims: Claims, names: readonly string[]): Record<string, string> {
  const present = names.flatMap((name) => {
    const text = getClaimStart(claims, name, KEPT_CHARS_MAX)
    return text === null ? [] : [[name, text] as const]
  })
  return Object.fromEntries(present)
}

/**
 * A number beyond 2^53 has lost digits: it could be another id. PostgreSQL cannot store a text with
 * NUL or half a character.
 */
function toText(value: unknown): string | null {
  if (typeof value === 'string') return value === '' || value.includes('\0') || !value.isWellFormed() ? null : value
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'number') return null
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : null
}
