import type { Hunk } from './git-files.ts'

/** What became of a line of the old text. A line that is none of these was deleted. */
export type LineFate = 'kept' | 'edited' | 'moved' | 'unsure'
/** `lines`: how many lines of the new text a broken line takes up. */
export type LineTarget = { fate: LineFate; path: string; line: number; lines: number }

/** The two texts of one file and what is known of the lines of the old one. Lines are 1-based. */
export type FileLines = {
  from: string | null
  to: string | null
  oldLines: string[]
  newLines: string[]
  /** By line of the old text. */
  targets: Map<number, LineTarget>
  /** Lines of the new text that come from a line of an old text. */
  claimed: Set<number>
}

/** Lines between two consecutive lines that were kept, from the first to before the last. */
export type Gap = { oldFrom: number; oldTo: number; newFrom: number; newTo: number }

export function fileLines(from: string | null, to: string | null, texts: readonly [string, string]): FileLines {
  const [oldText, newText] = texts
  return { from, to, oldLines: linesOf(oldText), newLines: linesOf(newText), targets: new Map(), claimed: new Set() }
}

export function keep(file: FileLines, oldLine: number, newLine: number): void {
  file.targets.set(oldLine, { fate: 'kept', path: file.to ?? '', line: newLine, lines: 1 })
  file.claimed.add(newLine)
}

export function edit(file: FileLines, oldLine: number, [newLine, lines]: readonly [number, number]): void {
  file.targets.set(oldLine, { fate: 'edited', path: file.to ?? '', line: newLine, lines })
  for (let at = 0; at < lines; at += 1) file.claimed.add(newLine + at)
}

/** Marks a line as unsure. Lines without a word are left out: nothing is found in them. */
export function doubt(file: FileLines, oldLine: number): void {
  if (isTrivial(file.oldLines[oldLine - 1] ?? '')) file.targets.delete(oldLine)
  else file.targets.set(oldLine, { fate: 'unsure', path: '', line: 0, lines: 0 })
}

/** A line without a word of three characters, such as a closing bracket. */
export function isTrivial(line: string): boolean {
  return !/\w{3}/.test(line)
}

/** The line without white space, quotes and separators, which formatters change. */
export function squeeze(line: string): string {
  return line.replace(/[\s'"`,;\\]+/g, '')
}

/** Pairs of equal lines that all algorithms keep, and the old lines that only some of them keep. */
export function agreedPairs(
  comparisons: Hunk[][],
  oldCount: number,
): { pairs: Map<number, number>; disputed: number[] } {
  const maps = comparisons.map((hunks) => keptLines(hunks, oldCount))
  const pairs = new Map<number, number>()
  const disputed: number[] = []
  for (let line = 1; line <= oldCount; line += 1) {
    const targets = new Set(maps.map((map) => map.get(line)))
    const [target] = targets
    if (targets.size > 1) disputed.push(line)
    else if (target !== undefined) pairs.set(line, target)
  }
  return { pairs, disputed }
}

/** Gaps with lines on both sides, between lines of the file that stay in order. */
export function gapsOf(file: FileLines): Gap[] {
  const gaps: Gap[] = []
  let last = { old: 0, new: 0 }
  const close = (oldTo: number, newTo: number) => {
    if (oldTo > last.old + 1 && newTo > last.new + 1)
      gaps.push({ oldFrom: last.old + 1, oldTo, newFrom: last.new + 1, newTo })
    last = { old: oldTo, new: newTo }
  }
  for (let line = 1; line <= file.oldLines.length; line += 1) {
    const target = file.targets.get(line)
    if ((target?.fate === 'kept' || target?.fate === 'edited') && target.line > last.new) close(line, target.line)
  }
  close(file.oldLines.length + 1, file.newLines.length + 1)
  return gaps
}

function keptLines(hunks: Hunk[], oldCount: number): Map<number, number> {
  const kept = new Map<number, number>()
  let oldLine = 1
  let newLine = 1
  for (const hunk of [...hunks, { oldStart: oldCount + 1, oldCount: 0, newStart: 0, newCount: 0 }]) {
    while (oldLine < hunk.oldStart) kept.set(oldLine++, newLine++)
    oldLine = hunk.oldStart + hunk.oldCount
    newLine = hunk.newStart + hunk.newCount
  }
  return kept
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
