import { matchEdited, matchSame } from './align-file.ts'
import { ComparedFile } from './compared-file.ts'
import { matchElsewhere, matchMovedBlocks } from './match-elsewhere.ts'
import { groupIndexes, Matching } from './matching.ts'
import { matchRenamedFiles } from './renamed-files.ts'
import type { Match, Pair, TrackedFinding } from './tracked-finding.ts'

/**
 * Finds the stored findings of one stream in a report. `anchors` are matched already. Findings with
 * the same content come first: in their file, in renamed files, then in other files. Edited ones
 * are looked for among the rest.
 */
export function matchFindings(
  stored: readonly TrackedFinding[],
  reported: readonly TrackedFinding[],
  anchors: readonly Pair[],
): Match[] {
  const matching = new Matching(stored, reported, anchors)
  const [before, after] = [byPath(stored), byPath(reported)]
  const compared = (from: string, to: string) => new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? [])
  const files = [...before.keys()].filter((path) => after.has(path)).map((path) => compared(path, path))
  for (const file of files) matchSame(file, 'same_place', 'moved_in_file')
  const renamed = matchRenamedFiles(matching).map(({ from, to }) => compared(from, to))
  for (const file of renamed) matchSame(file, 'file_renamed', 'file_renamed')
  matchElsewhere(matching, before, after)
  matchMovedBlocks(matching, before, after)
  for (const file of files) matchEdited(file, { same: 'same_place', edited: 'edited_in_place' })
  for (const file of renamed) matchEdited(file, { same: 'file_renamed', edited: 'file_renamed' })
  return matching.matches
}

/** Indexes of findings by path. */
function byPath(findings: readonly TrackedFinding[]): Map<string, number[]> {
  return groupIndexes([...findings.keys()], (index) => findings[index]?.path ?? '')
}
