import { groupIndexes, type Matching, type Paths, type Side } from './matching.ts'
import { collectNeighbours } from './neighbours.ts'
import { getContent, getRule, hasContent, isUnmistakable, type TrackedFinding } from './tracked-finding.ts'

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
