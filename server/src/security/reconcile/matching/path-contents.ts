import {
  getContent,
  getPlacedContent,
  getRule,
  groupIndexes,
  hasContent,
  isOfPackage,
  isUnmistakable,
  type Matching,
  type Paths,
  type Side,
  type TrackedFinding,
} from './matching.ts'

/** The contents of the paths of one side, and the paths of each content. */
export class PathContents {
  readonly paths: ReadonlyMap<string, ReadonlySet<string>>
  readonly #findings: readonly TrackedFinding[]
  readonly #byPath: Paths
  readonly #unique: ReadonlySet<string>
  readonly #telling: ReadonlySet<string>

  constructor(matching: Matching, side: Side, byPath: Paths) {
    this.#findings = matching[side]
    this.#byPath = byPath
    const everywhere = groupIndexes([...this.#findings.keys()], (index) => getContent(this.#finding(index)))
    const [unique, telling, paths] = [new Set<string>(), new Set<string>(), new Map<string, Set<string>>()]
    for (const [content, indexes] of everywhere) {
      const found = new Set(indexes.map((index) => this.#finding(index).path ?? ''))
      if (found.size === 1) unique.add(content)
      if (found.size === 1 && isUnmistakable(this.#finding(indexes[0] as number))) telling.add(content)
      const ofSide = [...found].filter((path) => byPath.has(path))
      if (ofSide.length > 0) paths.set(content, new Set(ofSide))
    }
    this.#unique = unique
    this.#telling = telling
    this.paths = paths
  }

  /** Whether no other file of the side has it. */
  isUnique(content: string): boolean {
    return this.#unique.has(content)
  }

  /** Whether its text is long enough to mean something, too. */
  isTelling(content: string): boolean {
    return this.#telling.has(content)
  }

  getSize(path: string): number {
    return this.#byPath.get(path)?.length ?? 0
  }

  getContents(path: string): Map<string, number> {
    return this.#counted(path, getContent)
  }

  /** The number of lines with these contents. Many messages of one line are not many contents. */
  countLines(path: string, contents: ReadonlySet<string>): number {
    const findings = (this.#byPath.get(path) ?? []).map((index) => this.#finding(index))
    return new Set(findings.filter((finding) => contents.has(getContent(finding))).map(getPlace)).size
  }

  /** The keys begin with the line. */
  getPlaces(path: string): Map<string, number> {
    return this.#counted(path, (finding) => `${finding.start_line}:${finding.start_column} ${getContent(finding)}`)
  }

  getNeighbours(path: string): Map<string, number> {
    return counted(collectNeighbours(this.#findings, this.#byPath.get(path) ?? []).map(({ key }) => key))
  }

  pathsBy(nameOf: (path: string) => string): Map<string, string[]> {
    const paths = [...this.#byPath.keys()]
    const groups = groupIndexes([...paths.keys()], (index) => nameOf(paths[index] as string))
    return new Map([...groups].map(([name, indexes]) => [name, indexes.map((index) => paths[index] as string)]))
  }

  /** The findings of each rule, in the order of their lines. */
  byRule(path: string): Map<string, TrackedFinding[]> {
    const findings = (this.#byPath.get(path) ?? []).map((index) => this.#finding(index))
    const sorted = findings.sort((a, b) => (a.start_line ?? 0) - (b.start_line ?? 0))
    const groups = groupIndexes([...sorted.keys()], (rank) => getRule(sorted[rank] as TrackedFinding))
    return new Map([...groups].map(([rule, ranks]) => [rule, ranks.map((rank) => sorted[rank] as TrackedFinding)]))
  }

  #counted(path: string, keyOf: (finding: TrackedFinding) => string): Map<string, number> {
    return counted((this.#byPath.get(path) ?? []).map((index) => keyOf(this.#finding(index))))
  }

  #finding(index: number): TrackedFinding {
    return this.#findings[index] as TrackedFinding
  }
}

/** Texts and fingerprints of a tool differ, even at one line. */
function getPlace(finding: TrackedFinding): string {
  return hasContent(finding) ? getContent(finding) : `line ${finding.start_line}`
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Findings further apart are no neighbours. */
const LINES_MAX = 100
/** The neighbours by which a block is recognized in another file. */
const NEIGHBOURS_MIN = 2

type Neighbours = { key: string; line: number }

/**
 * Two findings that follow each other, with the number of lines between them. Even where messages
 * say little, the same neighbours at the same distance are seldom a coincidence.
 */
function collectNeighbours(findings: readonly TrackedFinding[], indexes: readonly number[]): Neighbours[] {
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
type MovedBlock = { from: string; to: string; offset: number }

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
