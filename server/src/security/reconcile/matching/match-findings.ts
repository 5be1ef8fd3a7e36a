import { alignFile, type FileMethods } from './align-file.ts'
import { ComparedFile } from './compared-file.ts'
import { groupedBy, Matching } from './matching.ts'
import { matchElsewhere } from './match-elsewhere.ts'
import { renamedFiles } from './renamed-files.ts'
import type { Match, Pair, TrackedFinding } from './tracked-finding.ts'

/** Within one file, an equal finding is told apart by its neighbours. */
const SAME_FILE: FileMethods = { same: 'same_place', edited: 'edited_in_place', moved: 'moved_in_file' }
const RENAMED_FILE: FileMethods = { same: 'file_renamed', edited: 'file_renamed', moved: 'file_renamed' }

/**
 * Finds the stored findings of one stream in a report. `anchors` are matched already. First come
 * the findings of each file, then those of renamed files, then what moved to another file.
 */
export function matchFindings(
  stored: readonly TrackedFinding[],
  reported: readonly TrackedFinding[],
  anchors: readonly Pair[],
): Match[] {
  const matching = new Matching(stored, reported, anchors)
  const before = byPath(stored)
  const after = byPath(reported)
  for (const [path, indexes] of before) {
    alignFile(new ComparedFile(matching, indexes, after.get(path) ?? []), SAME_FILE)
  }
  for (const { from, to } of renamedFiles(matching)) {
    alignFile(new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? []), RENAMED_FILE)
  }
  matchElsewhere(matching, before, after)
  return matching.matches
}

/** Indexes of findings by path. */
function byPath(findings: readonly TrackedFinding[]): Map<string, number[]> {
  return groupedBy([...findings.keys()], (index) => findings[index]?.path ?? '')
}
