/** Control characters, line breaks, and what changes the direction of the text around a name. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Whether a trimmed name has 1 to `max` characters, and shows as one line of text. */
export function isDisplayName(name: string, max: number): boolean {
  const length = [...name].length
  return length >= 1 && length <= max && !HIDDEN.test(name)
}

/** Makes a name of the text of another system. Returns '' if nothing remains. */
export function toDisplayName(text: string, max: number): string {
  const shown = text.replaceAll(new RegExp(HIDDEN, 'gu'), ' ').trim()
  return [...shown].slice(0, max).join('').trim()
}

/** The text with each character that a reader would not see as its escape, such as `\u202e`. */
export function toVisible(text: string): string {
  const toEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll(new RegExp(HIDDEN, 'gu'), toEscape)
}

/**
 * The text if it has at most `charsMax` UTF-16 code units, otherwise its start with an ellipsis. No
 * character is cut in half: PostgreSQL refuses half a surrogate pair in `jsonb`.
 */
export function truncate(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The order of texts by their UTF-16 code units, as `sort` has it without a function. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
