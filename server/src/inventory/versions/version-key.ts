/**
 * The order of versions of an ecosystem, as a key: two versions compare like their keys, by code
 * units, and are equal if their keys are. Null for a text that has no place in the order. An order
 * takes linear time, never throws, and is total, because the order of texts is.
 */
export type VersionOrder = (version: string) => string | null

/** The number of characters of the longest version that is compared. */
export const VERSION_CHARS_MAX = 300

const NUMBER_START = 0x100

/**
 * A number of any size as part of a key: the count of its digits, then the digits. It sorts after
 * all marks, which are below 0x100.
 */
export function encodeNumber(digits: string): string {
  let start = 0
  while (start < digits.length && digits[start] === '0') start += 1
  return String.fromCharCode(NUMBER_START + digits.length - start) + digits.slice(start)
}

/** A text as part of a key: it sorts before every longer text that begins with it. */
export function encodeText(text: string): string {
  return `${text}\0`
}

/** Whether a text has digits only, and at least one. */
export function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text)
}

/**
 * A list of identifiers as part of a key (Semantic Versioning 2.0.0 §11.4): numbers by value and
 * before texts, texts by ASCII, and a list before the longer lists that begin with it.
 */
export function encodeIdentifiers(identifiers: readonly string[]): string {
  const parts = identifiers.map((part) =>
    isDigits(part) ? `\u0002${encodeNumber(part)}` : `\u0003${encodeText(part)}`,
  )
  return `${parts.join('')}\u0001`
}
