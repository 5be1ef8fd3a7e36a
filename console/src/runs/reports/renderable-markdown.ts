/** Rendering more takes seconds. A summary may have 1 MiB. */
const LENGTH_MAX = 32 * 1024
/** Quotations and lists that are nested deeper on one line take minutes. */
const TOO_NESTED = /^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){40}/m
/** The time of a paragraph grows with the square of the number of these characters. */
const EMPHASIS = /[*_~]/g
const EMPHASIS_MAX = 3000

/**
 * The start of a Markdown text that can be rendered while somebody waits: whole lines where
 * possible. Empty if the text is made to take long.
 */
export function renderableStart(text: string): string {
  const start = startOf(text)
  return TOO_NESTED.test(start) || start.split(/\n[ \t]*\n/).some(isTooEmphatic) ? '' : start
}

function isTooEmphatic(paragraph: string): boolean {
  return (paragraph.match(EMPHASIS)?.length ?? 0) > EMPHASIS_MAX
}

function startOf(text: string): string {
  if (text.length <= LENGTH_MAX) return text
  const end = text.lastIndexOf('\n', LENGTH_MAX)
  return text.slice(0, end > LENGTH_MAX / 2 ? end + 1 : LENGTH_MAX)
}
