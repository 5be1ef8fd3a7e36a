/**
 * Control characters, also those that change the direction of text. Output quotes titles and names
 * that anybody can choose, and a terminal would execute them.
 */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const CONTROL_IN_LINE = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Replaces control characters with their JSON escapes. */
export function printable(text: string): string {
  return text.replace(CONTROL, escapeCharacter)
}

/** The same for text of several lines. Line breaks stay. */
export function printableLines(text: string): string {
  return text.replace(CONTROL_IN_LINE, escapeCharacter)
}

/** A text of several lines in one. */
export function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

function escapeCharacter(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
