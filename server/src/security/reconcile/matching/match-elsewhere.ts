import type { Matching } from './matching.ts'
import { contentOf, hasContent, type TrackedFinding } from './tracked-finding.ts'

/**
 * Matches findings that moved to another file: those whose text exists only once on each side, and
 * nowhere among the findings that are matched.
 */
export function matchElsewhere(matching: Matching): void {
  const reported = onlyOnes(matching.reported)
  for (const [content, from] of onlyOnes(matching.stored)) {
    const to = reported.get(content)
    if (to !== undefined) matching.match([from, to], 'moved_to_file')
  }
}

function onlyOnes(findings: readonly TrackedFinding[]): Map<string, number> {
  const once = new Map<string, number>()
  const seen = new Set<string>()
  for (const [index, finding] of findings.entries()) {
    if (!hasContent(finding)) continue
    const content = contentOf(finding)
    if (seen.has(content)) once.delete(content)
    else once.set(content, index)
    seen.add(content)
  }
  return once
}
