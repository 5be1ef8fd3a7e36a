import { isAbsolutePath } from '../../formats/report/directory.ts'
import { computeTextLikeness, type Matching, type Paths, type TrackedFinding } from './matching.ts'
import { PathContents } from './path-contents.ts'

export type FilePair = { from: string; to: string }
/** A file that may have been renamed, with how much speaks for it. */
export type RenameCandidate = FilePair & { score: number; isLikely: boolean; isAlike: boolean }

/** A content that is in more files does not lead to candidates. */
const FILES_MAX = 8
/** The pairs of files with one name that are compared. */
const NAMESAKES_MAX = 2500
const NAME_DEPTH_MAX = 5

/** The share of words from which two names are alike. */
const WORDS_MIN = 0.45

/** The share of equal findings from which two files are alike. */
const ALIKE_MIN = 0.5
/** Contents of no other file, or neighbours, that are enough together. */
const TOGETHER_MIN = 3
/** The share of equal findings that both files need besides. */
const TOGETHER_SHARE_MIN = 0.25
/** Lines with the same findings by which files are recognized without their names and texts. */
const LINES_MIN = 3
/** These lines if the names are alike. Many files have all their findings at the first line. */
const LINES_OF_NAMESAKES_MIN = 2

/** Collects what speaks for vanished paths being the appeared ones. */
export class RenameEvidence {
  readonly #before: PathContents
  readonly #after: PathContents

  constructor(matching: Matching, vanished: Paths, appeared: Paths) {
    this.#before = new PathContents(matching, 'stored', vanished)
    this.#after = new PathContents(matching, 'reported', appeared)
  }

  candidates(): RenameCandidate[] {
    const found = [...this.#sharedContents(), ...this.#sharedNames(), ...this.#sharedFolders()]
    const pairs = new Map(found.map((pair) => [`${pair.from}\n${pair.to}`, pair]))
    return [...pairs.values()].map((pair) => this.#compared(pair))
  }

  *#sharedContents(): Generator<FilePair> {
    for (const [content, departed] of this.#before.paths) {
      const arrived = this.#after.paths.get(content)
      if (arrived === undefined || departed.size > FILES_MAX || arrived.size > FILES_MAX) continue
      yield* product([...departed], [...arrived])
    }
  }

  /** Files with the same last names, of which there are few. */
  *#sharedNames(): Generator<FilePair> {
    for (let depth = 1; depth <= NAME_DEPTH_MAX; depth++) {
      yield* this.#sharing((path) => path.split('/').slice(-depth).join('/'))
    }
  }

  *#sharedFolders(): Generator<FilePair> {
    yield* this.#sharing((path) => path.slice(0, path.lastIndexOf('/') + 1))
  }

  *#sharing(nameOf: (path: string) => string): Generator<FilePair> {
    const arrived = this.#after.pathsBy(nameOf)
    for (const [name, departed] of this.#before.pathsBy(nameOf)) {
      const others = arrived.get(name) ?? []
      if (departed.length * others.length <= NAMESAKES_MAX) yield* product(departed, others)
    }
  }

  /** The number of findings in common. An edited text counts for the part that is alike. */
  #likeness({ from, to }: FilePair): number {
    const after = this.#after.byRule(to)
    let sum = 0
    for (const [rule, findings] of this.#before.byRule(from)) {
      const others = after.get(rule) ?? []
      for (const [rank, finding] of findings.slice(0, Math.min(others.length, COMPARED_MAX)).entries()) {
        sum += computeTextLikeness(finding, others[rank] as TrackedFinding) ?? 0
      }
    }
    return sum
  }

  #compared(pair: FilePair): RenameCandidate {
    const equal = overlap(this.#before.getContents(pair.from), this.#after.getContents(pair.to))
    const neighbours = overlap(this.#before.getNeighbours(pair.from), this.#after.getNeighbours(pair.to))
    const unchanged = overlap(this.#before.getPlaces(pair.from), this.#after.getPlaces(pair.to))
    const lines = new Set(unchanged.keys.map((key) => Number.parseInt(key, 10))).size
    const total = this.#before.getSize(pair.from) + this.#after.getSize(pair.to)
    const unmistakable = equal.keys.filter((key) => this.#before.isTelling(key) && this.#after.isTelling(key)).length
    const unique = equal.keys.filter((key) => this.#before.isUnique(key) && this.#after.isUnique(key))
    const share = (2 * Math.max(equal.count, this.#likeness(pair))) / total
    const isAlike = share >= ALIKE_MIN
    const names = commonNames(pair)
    const together = names > 0 ? unique.length : this.#before.countLines(pair.from, new Set(unique))
    return {
      ...pair,
      score: 2 * unmistakable + neighbours.count + 2 * share + (4 * unchanged.count) / total + 0.5 * names,
      isAlike,
      isLikely:
        isInCheckout(pair) ||
        unmistakable > 1 ||
        (Math.max(neighbours.count, together) >= TOGETHER_MIN && share >= TOGETHER_SHARE_MIN) ||
        (isAlike && (unmistakable > 0 || names >= 1 || lines >= (names > 0 ? LINES_OF_NAMESAKES_MIN : LINES_MIN))),
    }
  }
}

/** The findings of one rule that are compared by their texts. */
const COMPARED_MAX = 50

function overlap(before: Map<string, number>, after: Map<string, number>): { keys: string[]; count: number } {
  const keys = [...before.keys()].filter((key) => after.has(key))
  const count = keys.reduce((sum, key) => sum + Math.min(before.get(key) ?? 0, after.get(key) ?? 0), 0)
  return { keys, count }
}

function product(departed: readonly string[], arrived: readonly string[]): FilePair[] {
  return departed.flatMap((from) => arrived.map((to) => ({ from, to })))
}

/** Whether the old path is the new one in a checkout, which was not known when it was stored. */
function isInCheckout({ from, to }: FilePair): boolean {
  return isAbsolutePath(from) && from.endsWith(`/${to}`)
}

/** The number of last names that both paths have, or the share of words in their last two. */
function commonNames({ from, to }: FilePair): number {
  const [names, others] = [from.split('/').reverse(), to.split('/').reverse()]
  const common = names.findIndex((name, index) => name !== others[index])
  if (common === -1) return names.length
  return common > 0 ? common : commonWords(names, others)
}

function commonWords(names: readonly string[], others: readonly string[]): number {
  const [words, otherWords] = [collectWords(names), collectWords(others)]
  const common = [...words].filter((word) => otherWords.has(word)).length
  const share = common / (words.size + otherWords.size - common)
  return share >= WORDS_MIN ? share : 0
}

function collectWords(names: readonly string[]): Set<string> {
  return new Set(
    names
      .slice(0, 2)
      .join('/')
      .toLowerCase()
      .split(/[^a-z0-9]+/),
  )
}
