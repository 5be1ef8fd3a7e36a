const CWE = /\bcwe(?:[-_: ]?|\.mitre\.org\/data\/definitions\/)0*(\d{1,5})(?!\d)/gi
const TEXT_READ_MAX = 500
const CWES_MAX = 20

/** `CWE-79` from whatever a tool writes: `external/cwe/cwe-079`, `CWE-79: Improper …`, `cwe:79`. Each once, in order. */
export function cwesIn(texts: readonly string[]): string[] {
  const cwes = new Set<string>()
  for (const text of texts) {
    for (const match of text.slice(0, TEXT_READ_MAX).matchAll(CWE)) cwes.add(`CWE-${match[1]}`)
    if (cwes.size >= CWES_MAX) break
  }
  return [...cwes].slice(0, CWES_MAX)
}
