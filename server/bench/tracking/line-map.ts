import { editLines } from './edited-lines.ts'
import { type FileLines, fileLines } from './file-lines.ts'
import { type ChangedFile, changedFiles, readFilesAt } from './git-files.ts'
import { keepLines } from './kept-lines.ts'
import { doubtCopiedLines, moveLines } from './moved-lines.ts'

type Run = [oldStart: number, newStart: number, length: number]
/** What became of the lines of one file. A line in none of the lists was deleted. */
export type FileMap = {
  to: string | null
  kept: Run[]
  /** Lines that were edited, and how many lines of the new text they take up. */
  edited: [oldLine: number, newLine: number, lines: number][]
  moved: [...Run, path: string][]
  unsure: [oldStart: number, length: number][]
}
export type StepMap = { files: Record<string, FileMap> }
export type Step = { from: string; to: string; oldPaths: Set<string>; newPaths: Set<string> }

/** Follows the lines of the files that have findings before or after the step. */
export function mapStep(gitDirectory: string, step: Step): StepMap {
  const changed = changedFiles(gitDirectory, step.from, step.to)
  const followed = changed.filter(({ from, to }) => step.oldPaths.has(from ?? '') || step.newPaths.has(to ?? ''))
  const files = readFiles(gitDirectory, step, followed)
  keepLines(files)
  moveLines(files)
  for (const file of files) editLines(file)
  doubtCopiedLines(files)
  const touched = new Set(changed.map(({ from }) => from))
  const untouched = [...step.oldPaths].filter((path) => !touched.has(path))
  const texts = readFilesAt(gitDirectory, step.from, untouched)
  const unchanged = untouched.flatMap((path, at) => unchangedFile(path, texts[at] ?? null))
  return { files: { ...Object.fromEntries(unchanged), ...mapsOf(files) } }
}

function readFiles(gitDirectory: string, step: Step, changed: ChangedFile[]): FileLines[] {
  const pathsOn = (side: 'from' | 'to') => changed.flatMap((file) => file[side] ?? [])
  const textsOn = (side: 'from' | 'to') => {
    const paths = pathsOn(side)
    const texts = readFilesAt(gitDirectory, step[side], paths)
    return new Map(paths.map((path, at) => [path, texts[at] ?? '']))
  }
  const [olds, news] = [textsOn('from'), textsOn('to')]
  return changed.map(({ from, to }) => fileLines(from, to, [olds.get(from ?? '') ?? '', news.get(to ?? '') ?? '']))
}

/** Returns nothing for a path that is no file of the repository. */
function unchangedFile(path: string, text: string | null): [string, FileMap][] {
  if (text === null) return []
  return [[path, { to: path, kept: [[1, 1, text.split('\n').length]], edited: [], moved: [], unsure: [] }]]
}

function mapsOf(files: FileLines[]): Record<string, FileMap> {
  return Object.fromEntries(files.flatMap((file) => (file.from === null ? [] : [[file.from, mapOf(file)]])))
}

function mapOf(file: FileLines): FileMap {
  const map: FileMap = { to: file.to, kept: [], edited: [], moved: [], unsure: [] }
  for (let line = 1; line <= file.oldLines.length; line += 1) {
    const target = file.targets.get(line)
    if (target?.fate === 'kept') extend(map.kept, line, target.line)
    if (target?.fate === 'edited') map.edited.push([line, target.line, target.lines])
    if (target?.fate === 'moved') extendMoved(map.moved, line, target)
    if (target?.fate === 'unsure') extendUnsure(map.unsure, line)
  }
  return map
}

function extend(runs: Run[], oldLine: number, newLine: number): void {
  const last = runs.at(-1)
  if (last !== undefined && last[0] + last[2] === oldLine && last[1] + last[2] === newLine) last[2] += 1
  else runs.push([oldLine, newLine, 1])
}

function extendMoved(runs: FileMap['moved'], oldLine: number, to: { line: number; path: string }): void {
  const last = runs.at(-1)
  const follows = last !== undefined && last[0] + last[2] === oldLine && last[1] + last[2] === to.line
  if (follows && last[3] === to.path) last[2] += 1
  else runs.push([oldLine, to.line, 1, to.path])
}

function extendUnsure(runs: FileMap['unsure'], line: number): void {
  const last = runs.at(-1)
  if (last !== undefined && last[0] + last[1] === line) last[1] += 1
  else runs.push([line, 1])
}
