/** Where the lines of one file went in one step. All lines count from 1. */
export type FileMap = {
  /** The file's path after the step; null if it was deleted. */
  to: string | null
  /** Unchanged text, as [old start, new start, length]. */
  kept: [number, number, number][]
  /** Lines edited in place, as [old line, new line]. */
  edited: [number, number][]
  /** Unchanged text elsewhere, as [old start, new start, length, new path]. */
  moved: [number, number, number, string][]
  /** Lines on which the diff algorithms disagree, as [old start, length]. */
  unsure: [number, number][]
}

/** What became of the flagged lines. */
export type Fate =
  | { is: 'kept' | 'edited' | 'moved'; path: string; line: number | null }
  | { is: 'gone' }
  | { is: 'unsure' }

export type Lines = { first: number | null; last: number | null }

/**
 * Where a finding is expected after the step, by its first line. It is `kept` only if all its lines
 * were kept together. Without its first line, the truth is unknown unless all its lines are gone.
 */
export function fateOf(map: FileMap | undefined, { first, last }: Lines): Fate {
  if (map === undefined) return { is: 'unsure' }
  if (first === null) return map.to === null ? { is: 'gone' } : { is: 'kept', path: map.to, line: null }
  const end = last ?? first
  if (map.unsure.some(([start, length]) => start <= end && start + length > first)) return { is: 'unsure' }
  const line = keptLine(map, first)
  if (line !== null && map.to !== null)
    return { is: isKeptWhole(map, first, end) ? 'kept' : 'edited', path: map.to, line }
  return fateElsewhere(map, first, end)
}

function fateElsewhere(map: FileMap, first: number, end: number): Fate {
  const edited = map.edited.find(([old]) => old === first)
  if (edited !== undefined && map.to !== null) return { is: 'edited', path: map.to, line: edited[1] }
  const moved = map.moved.find(([start, , length]) => start <= first && first < start + length)
  if (moved !== undefined) return { is: 'moved', path: moved[3], line: moved[1] + first - moved[0] }
  const partsRemain =
    map.kept.some(([start, , length]) => start <= end && start + length > first) ||
    map.edited.some(([old]) => old > first && old <= end) ||
    map.moved.some(([start, , length]) => start <= end && start + length > first)
  return partsRemain ? { is: 'unsure' } : { is: 'gone' }
}

function keptLine(map: FileMap, old: number): number | null {
  const range = map.kept.find(([start, , length]) => start <= old && old < start + length)
  return range === undefined ? null : range[1] + old - range[0]
}

function isKeptWhole(map: FileMap, first: number, end: number): boolean {
  const offset = (keptLine(map, first) ?? first) - first
  for (let line = first; line <= end; line++) if (keptLine(map, line) !== line + offset) return false
  return true
}
