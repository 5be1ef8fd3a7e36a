import type { FileMap } from './line-map.ts'

/**
 * Where the flagged lines are after a step. `until` is the first line after those that the first
 * line became: a formatter may have broken it into several.
 */
export type NewPlace = { is: 'kept' | 'edited' | 'moved'; path: string; line: number | null; until: number }

/** What became of the flagged lines. */
export type Fate = NewPlace | { is: 'gone' } | { is: 'unsure' }

export type Lines = { first: number | null; last: number | null }

/**
 * Where a finding is expected after the step, by its first line. It is `kept` only if all its lines
 * were kept together. Without its first line, the truth is unknown unless all its lines are gone.
 */
export function fateOf(map: FileMap | undefined, { first, last }: Lines): Fate {
  if (map === undefined) return { is: 'unsure' }
  if (first === null) return map.to === null ? { is: 'gone' } : { is: 'kept', path: map.to, line: null, until: 0 }
  const end = last ?? first
  if (map.unsure.some(([start, length]) => start <= end && start + length > first)) return { is: 'unsure' }
  const line = keptLine(map, first)
  if (line === null || map.to === null) return fateElsewhere(map, first, end)
  return { is: isKeptWhole(map, first, end) ? 'kept' : 'edited', path: map.to, line, until: line + 1 }
}

function fateElsewhere(map: FileMap, first: number, end: number): Fate {
  const edited = map.edited.find(([old]) => old === first)
  if (edited !== undefined && map.to !== null)
    return { is: 'edited', path: map.to, line: edited[1], until: edited[1] + edited[2] }
  const moved = map.moved.find(([start, , length]) => start <= first && first < start + length)
  if (moved !== undefined) {
    const line = moved[1] + first - moved[0]
    return { is: 'moved', path: moved[3], line, until: line + 1 }
  }
  return partsRemain(map, first, end) ? { is: 'unsure' } : { is: 'gone' }
}

function partsRemain(map: FileMap, first: number, end: number): boolean {
  return (
    [...map.kept, ...map.moved].some(([start, , length]) => start <= end && start + length > first) ||
    map.edited.some(([old]) => old > first && old <= end)
  )
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

/** The lines of the new file that stand where a deleted line was, without `after` and `before`. */
export type Gap = { path: string; after: number; before: number }

/** Null if the whole file was deleted. */
export function gapOf(map: FileMap, line: number): Gap | null {
  if (map.to === null) return null
  const blocks = [
    ...map.kept.map(([old, to, length]) => ({ first: old, last: old + length - 1, to, end: to + length - 1 })),
    ...map.edited.map(([old, to, lines]) => ({ first: old, last: old, to, end: to + lines - 1 })),
  ]
  const after = blocks.filter(({ last }) => last < line).sort((a, b) => b.last - a.last)[0]
  const before = blocks.filter(({ first }) => first > line).sort((a, b) => a.first - b.first)[0]
  return { path: map.to, after: after?.end ?? 0, before: before?.to ?? Number.POSITIVE_INFINITY }
}
