/**
 * The text if it has at most `charsMax` UTF-16 code units, otherwise its start with an ellipsis. No
 * character is cut in half: PostgreSQL refuses half a surrogate pair in `jsonb`.
 */
export function truncate(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
