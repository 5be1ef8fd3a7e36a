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

/**
 * What became of the flagged lines. A formatter may have made several lines of an edited one: the
 * lines before `until` can be part of it.
 */
export type Fate =
  | { is: 'kept' | 'moved'; path: string; line: number | null }
  | { is: 'edited'; path: string; line: number; until: number }
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
  if (line === null || map.to === null) return fateElsewhere(map, first, end)
  if (isKeptWhole(map, first, end)) return { is: 'kept', path: map.to, line }
  return { is: 'edited', path: map.to, line, until: line + 1 }
}

function fateElsewhere(map: FileMap, first: number, end: number): Fate {
  const edited = map.edited.find(([old]) => old === first)
  if (edited !== undefined && map.to !== null)
    return { is: 'edited', path: map.to, line: edited[1], until: nextMapped(map, edited[1]) }
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

/** The first later line of the new file that some old line became. */
function nextMapped(map: FileMap, line: number): number {
  const kept = map.kept.flatMap(([, start, length]) => (start + length > line + 1 ? [Math.max(start, line + 1)] : []))
  const edited = map.edited.flatMap(([, to]) => (to > line ? [to] : []))
  const moved = map.moved.flatMap(([, to, , path]) => (to > line && path === map.to ? [to] : []))
  return Math.min(...kept, ...edited, ...moved)
}
