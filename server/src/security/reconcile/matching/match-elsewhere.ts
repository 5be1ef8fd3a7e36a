import { anchorsOf, matchBlocks } from './align-file.ts'
import { ComparedFile } from './compared-file.ts'
import { groupedBy, type Matching, type Paths } from './matching.ts'
import { movedBlocks } from './neighbours.ts'
import type { FilePair } from './rename-evidence.ts'
import { contentOf, hasContent, placedContentOf, type TrackedFinding } from './tracked-finding.ts'

/**
 * Matches findings that moved to another file: those whose text exists only once on each side, and
 * nowhere among the findings that are matched. Equal findings that moved with them follow.
 */
export function matchElsewhere(matching: Matching, before: Paths, after: Paths): void {
  const moves = new Map<string, FilePair>()
  const reported = onlyOnes(matching.reported)
  for (const [content, from] of onlyOnes(matching.stored)) {
    const to = reported.get(content)
    if (to === undefined || !matching.match([from, to], 'moved_to_file')) continue
    const pair = { from: matching.stored[from]?.path ?? '', to: matching.reported[to]?.path ?? '' }
    moves.set(`${pair.from}\n${pair.to}`, pair)
  }
  for (const { from, to } of moves.values()) {
    const file = new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? [])
    matchBlocks(file, anchorsOf(file), 'moved_to_file')
  }
}

/** Matches the findings of blocks that moved to another file, all by the same number of lines. */
export function matchMovedBlocks(matching: Matching, before: Paths, after: Paths): void {
  for (const { from, to, offset } of movedBlocks(matching, before, after)) {
    const arrived = groupedBy(after.get(to) ?? [], (index) => {
      const finding = matching.reported[index] as TrackedFinding
      return `${finding.start_line} ${placedContentOf(finding)}`
    })
    for (const index of before.get(from) ?? []) {
      const finding = matching.stored[index] as TrackedFinding
      const target = arrived.get(`${(finding.start_line ?? 0) + offset} ${placedContentOf(finding)}`)?.[0]
      if (target !== undefined) matching.match([index, target], 'moved_to_file')
    }
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
