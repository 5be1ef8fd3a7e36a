import { collectAnchors, matchBlocks } from './align-file.ts'
import { ComparedFile } from './compared-file.ts'
import { groupIndexes, type Matching, type Paths, type Side } from './matching.ts'
import { collectMovedBlocks } from './neighbours.ts'
import type { FilePair } from './rename-evidence.ts'
import { getContent, getPlacedContent, hasContent, type TrackedFinding } from './tracked-finding.ts'

/**
 * Matches findings that moved to another file: those whose text is left only once on each side.
 * Equal findings that moved with them follow.
 */
export function matchElsewhere(matching: Matching, before: Paths, after: Paths): void {
  const moves = new Map<string, FilePair>()
  const reported = onlyFree(matching, 'reported')
  for (const [content, from] of onlyFree(matching, 'stored')) {
    const to = reported.get(content)
    if (to === undefined || !matching.match([from, to], 'moved_to_file')) continue
    const pair = { from: matching.stored[from]?.path ?? '', to: matching.reported[to]?.path ?? '' }
    moves.set(`${pair.from}\n${pair.to}`, pair)
  }
  for (const { from, to } of moves.values()) {
    const file = new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? [])
    matchBlocks(file, collectAnchors(file), 'moved_to_file')
  }
}

/** Matches the findings of blocks that moved to another file, all by the same number of lines. */
export function matchMovedBlocks(matching: Matching, before: Paths, after: Paths): void {
  for (const { from, to, offset } of collectMovedBlocks(matching, before, after)) {
    const arrived = groupIndexes(after.get(to) ?? [], (index) => {
      const finding = matching.reported[index] as TrackedFinding
      return `${finding.start_line} ${getPlacedContent(finding)}`
    })
    for (const index of before.get(from) ?? []) {
      const finding = matching.stored[index] as TrackedFinding
      const target = arrived.get(`${(finding.start_line ?? 0) + offset} ${getPlacedContent(finding)}`)?.[0]
      if (target !== undefined) matching.match([index, target], 'moved_to_file')
    }
  }
}

/** The free findings with a text that no other free one of the side has, by content. */
function onlyFree(matching: Matching, side: Side): Map<string, number> {
  const free = groupIndexes([...matching[side].keys()], (index) => {
    const finding = matching[side][index] as TrackedFinding
    return matching.isFree(side, index) && hasContent(finding) ? getContent(finding) : null
  })
  return new Map(
    [...free].flatMap(([content, [index, other]]) =>
      index === undefined || other !== undefined ? [] : [[content, index]],
    ),
  )
}
