import { createInvalidFieldError, encodePointerToken } from './errors.ts'

/** Without any of these, a text of JSON contains nothing that cannot be stored. */
const SUSPICIOUS = new RegExp(
  [
    /\\u(?:0000|d[89a-f])|"__proto__"/, // text that cannot be stored
    /[:[,\s]-?\d+(?:\.\d+)?e\+?\d{3}/, // numbers that may exceed the range of a double
    /[:[,\s]-?\d{200}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** Whether a text of JSON may contain a value that PostgreSQL cannot store. */
export function canBeUnstorable(text: string): boolean {
  return SUSPICIOUS.test(text)
}

const NESTING_MAX = 64

/**
 * Throws `invalid_request` for the first value that PostgreSQL cannot store: U+0000, lone
 * surrogates, infinity.
 */
export function checkStorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw createInvalidFieldError(path, `must not be nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw createInvalidFieldError(path, 'must not contain U+0000 or a lone surrogate')
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw createInvalidFieldError(path, 'must be a number within the range of a double')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw createInvalidFieldError(`${path}/__proto__`, 'is not a field of this request')
    checkStorable(name, path, depth)
    checkStorable(inner, `${path}/${encodePointerToken(name)}`, depth + 1)
  }
}

/** Above what validation allows in any field, and low enough that recursion cannot overflow. */
const REPLACED_NESTING_MAX = 80

/** The value with U+FFFD for what cannot be stored, and without members named `__proto__`. */
export function normalizeUnstorable(value: unknown, path: string, depth = 0): unknown {
  if (depth > REPLACED_NESTING_MAX) {
    throw createInvalidFieldError(path, `must not be nested deeper than ${REPLACED_NESTING_MAX} levels`)
  }
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed()
  if (Array.isArray(value)) return value.map((item, index) => normalizeUnstorable(item, `${path}/${index}`, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(
    members.map(([name, inner]) => [
      normalizeUnstorable(name, path, depth),
      normalizeUnstorable(inner, `${path}/${encodePointerToken(name)}`, depth + 1),
    ]),
  )
}
