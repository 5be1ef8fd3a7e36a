import { groupIndexes, type Matching, type Paths, type Side } from './matching.ts'
import { getPlacedContent, isOfPackage, type TrackedFinding } from './tracked-finding.ts'

/** Findings further apart are no neighbours. */
const LINES_MAX = 100
/** The neighbours by which a block is recognized in another file. */
const NEIGHBOURS_MIN = 2

type Neighbours = { key: string; line: number }

/**
 * Two findings that follow each other, with the number of lines between them. Even where messages
 * say little, the same neighbours at the same distance are seldom a coincidence.
 */
export function collectNeighbours(findings: readonly TrackedFinding[], indexes: readonly number[]): Neighbours[] {
  const placed = indexes.filter((index) => findings[index]?.start_line !== null)
  placed.sort((a, b) => (findings[a]?.start_line ?? 0) - (findings[b]?.start_line ?? 0))
  return placed.slice(1).flatMap((index, rank) => {
    const [before, after] = [findings[placed[rank] as number] as TrackedFinding, findings[index] as TrackedFinding]
    const lines = (after.start_line ?? 0) - (before.start_line ?? 0)
    const key = `${getPlacedContent(before)} ${lines} ${getPlacedContent(after)}`
    return lines === 0 || lines > LINES_MAX ? [] : [{ key, line: before.start_line ?? 0 }]
  })
}

/** A block of findings that moved to another file, and by how many lines. */
export type MovedBlock = { from: string; to: string; offset: number }

/** The blocks that moved between different files. */
export function collectMovedBlocks(matching: Matching, before: Paths, after: Paths): MovedBlock[] {
  const arrived = uniqueNeighbours(matching, 'reported', after)
  const pairs = [...uniqueNeighbours(matching, 'stored', before)].flatMap(([key, { path: from, line }]) => {
    const to = arrived.get(key)
    return to === undefined || to.path === from ? [] : [{ from, to: to.path, offset: to.line - line }]
  })
  const blocks = groupIndexes([...pairs.keys()], (index) => JSON.stringify(pairs[index]))
  return [...blocks.values()].flatMap((indexes) =>
    indexes.length >= NEIGHBOURS_MIN ? [pairs[indexes[0] as number] as MovedBlock] : [],
  )
}

type Place = { path: string; line: number }

/** Free neighbours that exist only once on a side. */
function uniqueNeighbours(matching: Matching, side: Side, paths: Paths): Map<string, Place> {
  const found = new Map<string, Place | null>()
  for (const [path, indexes] of paths) {
    const free = indexes.filter(
      (index) => matching.isFree(side, index) && !isOfPackage(matching[side][index] as TrackedFinding),
    )
    for (const { key, line } of collectNeighbours(matching[side], free))
      found.set(key, found.has(key) ? null : { path, line })
  }
  return new Map([...found].flatMap(([key, place]) => (place === null ? [] : [[key, place]])))
}
