import { agreedPairs, doubt, edit, type FileLines, gapsOf, isTrivial, keep, squeeze } from './file-lines.ts'
import { compareTexts, type Hunk } from './git-files.ts'

/** Pairs lines of equal text, then lines of equal text but for white space, quotes and commas. */
export function keepLines(files: FileLines[]): void {
  const both = files.filter(({ from, to }) => from !== null && to !== null)
  const comparisons = compareTexts(both.map(({ oldLines, newLines }) => [textOf(oldLines), textOf(newLines)]))
  for (const [at, file] of both.entries()) keepEqualLines(file, comparisons[at] ?? [])
  const changed = both.filter((file) => gapsOf(file).length > 0)
  const squeezed = (lines: string[]) => textOf(lines.map(squeeze))
  const reformatted = compareTexts(changed.map(({ oldLines, newLines }) => [squeezed(oldLines), squeezed(newLines)]))
  for (const [at, file] of changed.entries()) keepReformattedLines(file, reformatted[at] ?? [])
}

function keepEqualLines(file: FileLines, comparisons: Hunk[][]): void {
  const { pairs, disputed } = agreedPairs(comparisons, file.oldLines.length)
  for (const [oldLine, newLine] of pairs) keep(file, oldLine, newLine)
  for (const line of disputed) doubt(file, line)
  doubtSlidingLines(file)
}

function keepReformattedLines(file: FileLines, comparisons: Hunk[][]): void {
  const { pairs, disputed } = agreedPairs(comparisons, file.oldLines.length)
  for (const gap of gapsOf(file)) {
    for (let line = gap.oldFrom; line < gap.oldTo; line += 1) {
      const target = pairs.get(line) ?? 0
      const free = target >= gap.newFrom && target < gap.newTo && !file.claimed.has(target)
      if (free && !isTrivial(file.oldLines[line - 1] ?? '')) edit(file, line, [target, 1])
    }
  }
  for (const line of disputed) if (!file.targets.has(line)) doubt(file, line)
}

/**
 * Added or deleted lines that equal the lines next to them can be shown one line up or down: which
 * of the equal lines is the new one is not known.
 */
function doubtSlidingLines(file: FileLines): void {
  const oldOf = new Map([...file.targets].map(([oldLine, target]) => [target.line, oldLine]))
  for (const run of runsOf(file.newLines.length, (line) => !oldOf.has(line))) {
    for (const line of slidingLines(file.newLines, run)) {
      const oldLine = oldOf.get(line)
      if (oldLine !== undefined) doubt(file, oldLine)
    }
  }
  for (const run of runsOf(file.oldLines.length, (line) => file.targets.get(line)?.fate !== 'kept')) {
    for (const line of slidingLines(file.oldLines, run)) doubt(file, line)
  }
}

/** Lines from a start to before an end that satisfy a condition, as [start, end] in order. */
function runsOf(count: number, condition: (line: number) => boolean): [number, number][] {
  const runs: [number, number][] = []
  for (let line = 1; line <= count; line += 1) {
    const last = runs.at(-1)
    if (!condition(line)) continue
    if (last !== undefined && last[1] === line) last[1] = line + 1
    else runs.push([line, line + 1])
  }
  return runs
}

/** Lines inside and outside the run that change places when the run is shown elsewhere. */
function slidingLines(lines: string[], [start, end]: [number, number]): number[] {
  const sliding: number[] = []
  const length = end - start
  const equal = (line: number) =>
    line >= 1 && lines[line - 1] !== undefined && lines[line - 1] === lines[line + length - 1]
  for (let line = start - 1; equal(line); line -= 1) sliding.push(line, line + length)
  for (let line = start; equal(line); line += 1) sliding.push(line, line + length)
  return sliding.filter((line) => !isTrivial(lines[line - 1] ?? ''))
}

function textOf(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
