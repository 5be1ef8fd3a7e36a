import { doubt, type FileLines, isTrivial } from './file-lines.ts'

type Place = { file: FileLines; line: number }
type Index = Map<string, Place[]>
const BLOCK_LINES = 3

/**
 * Finds blocks of at least three lines that were deleted at one place and added at exactly one
 * other, with the same text but for the indentation.
 */
export function moveLines(files: FileLines[]): void {
  const deleted = indexOf(files, 'oldLines', (file, line) => !file.targets.has(line))
  const added = indexOf(files, 'newLines', (file, line) => !file.claimed.has(line))
  for (const [block, places] of deleted) {
    const arrivals = added.get(block) ?? []
    for (const place of places) {
      if (arrivals.length === 0 || place.file.targets.get(place.line)?.fate === 'moved') continue
      if (places.length === 1 && arrivals.length === 1 && arrivals[0] !== undefined) moveBlock(place, arrivals[0])
      else doubtBlock(place)
    }
  }
  doubtLinesNearMoved(files)
}

/** Moves the block and the equal lines after it. */
function moveBlock(from: Place, to: Place): void {
  for (let at = 0; ; at += 1) {
    const text = from.file.oldLines[from.line + at - 1]
    const [oldLine, newLine] = [from.line + at, to.line + at]
    if (text === undefined || text.trim() !== to.file.newLines[newLine - 1]?.trim()) return
    if (isClaimed(from.file, oldLine) || to.file.claimed.has(newLine)) return
    from.file.targets.set(oldLine, { fate: 'moved', path: to.file.to ?? '', line: newLine, lines: 1 })
    to.file.claimed.add(newLine)
  }
}

/** Whether the line is known to have become another one. */
function isClaimed(file: FileLines, line: number): boolean {
  const target = file.targets.get(line)
  return target !== undefined && target.fate !== 'unsure'
}

function doubtBlock(place: Place): void {
  for (let words = 0, line = place.line; words < BLOCK_LINES && line <= place.file.oldLines.length; line += 1) {
    if (!isClaimed(place.file, line)) doubt(place.file, line)
    if (!isTrivial(place.file.oldLines[line - 1] ?? '')) words += 1
  }
}

/** Deleted lines between two lines that moved to one file were probably edited on the way. */
function doubtLinesNearMoved(files: FileLines[]): void {
  for (const file of files) {
    let last = null as { line: number; path: string } | null
    for (let line = 1; line <= file.oldLines.length; line += 1) {
      const target = file.targets.get(line)
      if (target?.fate === 'kept' || target?.fate === 'edited') last = null
      if (target?.fate !== 'moved') continue
      if (last?.path === target.path) doubtBetween(file, last.line, line)
      last = { line, path: target.path }
    }
  }
}

function doubtBetween(file: FileLines, after: number, before: number): void {
  for (let line = after + 1; line < before; line += 1) if (!file.targets.has(line)) doubt(file, line)
}

/**
 * A deleted line whose text was added somewhere may be that line, without enough context to say.
 */
export function doubtCopiedLines(files: FileLines[]): void {
  const added = new Set(
    files.flatMap((file) => file.newLines.flatMap((text, at) => (file.claimed.has(at + 1) ? [] : [text.trim()]))),
  )
  for (const file of files) {
    for (const [at, text] of file.oldLines.entries()) {
      if (!file.targets.has(at + 1) && added.has(text.trim())) doubt(file, at + 1)
    }
  }
}

/** Blocks of three lines with words, by their text without indentation. */
function indexOf(
  files: FileLines[],
  side: 'oldLines' | 'newLines',
  free: (file: FileLines, line: number) => boolean,
): Index {
  const index: Index = new Map()
  for (const file of files) {
    for (let line = 1; line <= file[side].length; line += 1) {
      const block = blockAt(file[side], line, (at) => free(file, at))
      if (block === null) continue
      const places = index.get(block) ?? []
      places.push({ file, line })
      index.set(block, places)
    }
  }
  return index
}

function blockAt(lines: string[], start: number, free: (line: number) => boolean): string | null {
  if (isTrivial(lines[start - 1] ?? '')) return null
  const block: string[] = []
  for (let words = 0, line = start; words < BLOCK_LINES; line += 1) {
    const text = lines[line - 1]
    if (text === undefined || !free(line)) return null
    block.push(text.trim())
    if (!isTrivial(text)) words += 1
  }
  return block.join('\n')
}
