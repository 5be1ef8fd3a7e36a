const CWE = /\bcwe(?:[-_: ]?|\.mitre\.org\/data\/definitions\/)0*(\d{1,5})(?!\d)/gi
const TEXT_READ_MAX = 500
const CWES_MAX = 20

/**
 * The CWE ids in these texts as `CWE-79`, in order, without duplicates. Tools write them as
 * `external/cwe/cwe-079`, `CWE-79: Improper …` or `cwe:79`.
 */
export function cwesIn(texts: readonly string[]): string[] {
  const cwes = new Set<string>()
  for (const text of texts) {
    for (const match of text.slice(0, TEXT_READ_MAX).matchAll(CWE)) cwes.add(`CWE-${match[1]}`)
    if (cwes.size >= CWES_MAX) break
  }
  return [...cwes].slice(0, CWES_MAX)
}

/** The text of a member that contains a CWE id, which may be the bare number. */
export function cweText(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return /^\d+$/.test(text) ? `CWE-${text}` : text
}
