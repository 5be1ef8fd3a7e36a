import { groupedBy, type Matching } from './matching.ts'
import { contentOf, hasContent, ruleOf, type TrackedFinding } from './tracked-finding.ts'

export type FilePair = { from: string; to: string }
/** A file that may have been renamed, with how much speaks for it. */
export type RenameCandidate = FilePair & { score: number; sharesContent: boolean }

/** A text that is in more files says little about any of them. */
const FILES_MAX = 8
/** The pairs of files with one name that are compared. */
const NAMESAKES_MAX = 2500
const NAME_DEPTH_MAX = 5

const TEXT = 2
const MESSAGE = 0.5
/** Equal findings at the same line and column. */
const SAME_PLACE = 1
const SAME_NAME = 0.5
const SAME_RULES = 1

type Paths = ReadonlyMap<string, readonly number[]>

/** Collects what speaks for vanished paths being the appeared ones. */
export class RenameEvidence {
  readonly #matching: Matching
  readonly #vanished: Paths
  readonly #appeared: Paths
  readonly #candidates = new Map<string, RenameCandidate>()

  constructor(matching: Matching, vanished: Paths, appeared: Paths) {
    this.#matching = matching
    this.#vanished = vanished
    this.#appeared = appeared
  }

  candidates(): RenameCandidate[] {
    this.#compareContents(contentOf, (finding) => (hasContent(finding) ? TEXT : MESSAGE))
    this.#compareContents(
      (finding) => `${contentOf(finding)} ${finding.start_line}:${finding.start_column}`,
      () => SAME_PLACE,
    )
    this.#compareNames()
    for (const candidate of this.#candidates.values()) {
      candidate.score += SAME_RULES * this.#commonRules(candidate) + SAME_NAME * commonNames(candidate)
    }
    return [...this.#candidates.values()]
  }

  #compareContents(keyOf: (finding: TrackedFinding) => string, worthOf: (finding: TrackedFinding) => number): void {
    const arrived = this.#pathsByKey('reported', this.#appeared, keyOf)
    for (const [key, departed] of this.#pathsByKey('stored', this.#vanished, keyOf)) {
      const others = arrived.get(key)
      if (others === undefined || departed.size > FILES_MAX || others.size > FILES_MAX) continue
      const rarity = 1 / Math.max(departed.size, others.size)
      for (const [from, stored] of departed) {
        const worth = worthOf(this.#matching.stored[stored[0] as number] as TrackedFinding)
        for (const [to, reported] of others) {
          const candidate = this.#candidate(from, to)
          candidate.score += worth * rarity * Math.min(stored.length, reported.length)
          candidate.sharesContent = true
        }
      }
    }
  }

  #pathsByKey(side: 'stored' | 'reported', paths: Paths, keyOf: (finding: TrackedFinding) => string) {
    const findings = this.#matching[side]
    const byKey = groupedBy([...paths.values()].flat(), (index) => keyOf(findings[index] as TrackedFinding))
    return new Map(
      [...byKey].map(([key, indexes]) => [key, groupedBy(indexes, (index) => findings[index]?.path ?? null)]),
    )
  }

  /** Files with the same last names, of which there are few. */
  #compareNames(): void {
    for (let depth = 1; depth <= NAME_DEPTH_MAX; depth++) {
      const arrived = byLastNames([...this.#appeared.keys()], depth)
      for (const [name, departed] of byLastNames([...this.#vanished.keys()], depth)) {
        const others = arrived.get(name) ?? []
        if (departed.length * others.length > NAMESAKES_MAX) continue
        for (const from of departed) for (const to of others) this.#candidate(from, to)
      }
    }
  }

  #candidate(from: string, to: string): RenameCandidate {
    const key = `${from}\n${to}`
    const candidate = this.#candidates.get(key) ?? { from, to, score: 0, sharesContent: false }
    this.#candidates.set(key, candidate)
    return candidate
  }

  /** The share of findings whose rule is on both sides. */
  #commonRules({ from, to }: RenameCandidate): number {
    const stored = this.#vanished.get(from) ?? []
    const reported = this.#appeared.get(to) ?? []
    const before = groupedBy(stored, (index) => ruleOf(this.#matching.stored[index] as TrackedFinding))
    const after = groupedBy(reported, (index) => ruleOf(this.#matching.reported[index] as TrackedFinding))
    let common = 0
    for (const [rule, indexes] of before) common += Math.min(indexes.length, after.get(rule)?.length ?? 0)
    return common / Math.max(stored.length, reported.length)
  }
}

function byLastNames(paths: string[], depth: number): Map<string, string[]> {
  const groups = groupedBy([...paths.keys()], (index) => paths[index]?.split('/').slice(-depth).join('/') ?? null)
  return new Map([...groups].map(([name, indexes]) => [name, indexes.map((index) => paths[index] as string)]))
}

/** The number of last names that both paths have. */
function commonNames({ from, to }: RenameCandidate): number {
  const [names, others] = [from.split('/').reverse(), to.split('/').reverse()]
  const common = names.findIndex((name, index) => name !== others[index])
  return common === -1 ? names.length : common
}
