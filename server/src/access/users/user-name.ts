import { isDisplayName, toDisplayName } from '../../platform/display-name.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'

const CHARS_MAX = 100

/** Trims and validates the name of a person. Throws 400. */
export function requireUserName(name: string): string {
  const trimmed = name.trim()
  if (isDisplayName(trimmed, CHARS_MAX)) return trimmed
  throw createInvalidFieldError('/body/name', `must have 1 to ${CHARS_MAX} characters, and no control characters`)
}

/** Makes a name of the first text that has characters to show. */
export function toUserName(texts: readonly string[]): string {
  return texts.map((text) => toDisplayName(text, CHARS_MAX)).find((name) => name !== '') ?? ''
}
