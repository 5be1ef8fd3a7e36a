/** What tools write in place of the flagged text: Gitleaks where it redacts, Semgrep without a login. */
const WITHHELD = new Set(['REDACTED', 'requireslogin'])

/** A secret of which a part is left out. Secrets that differ look the same in this form. */
const MASKED = /\*{3}|REDACTED|(?:\.{3}|…)$/

/** The flagged text without its white space, by which equal code is known; null where a report does not show it. */
export function flaggedText(snippet: string | null, isSecret: boolean): string | null {
  const text = snippet?.replace(/\s+/g, '') ?? ''
  const isShown = text !== '' && !WITHHELD.has(text) && !(isSecret && MASKED.test(text))
  return isShown ? text : null
}
