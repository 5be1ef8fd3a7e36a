import type { ComparedFile } from './compared-file.ts'
import type { LinePair } from './frontier.ts'
import { groupIndexes } from './matching.ts'
import { getContent, getRule, isOfPackage, type TrackedFinding } from './tracked-finding.ts'

/** The pairs of lines that are compared in one file. */
const PAIRS_MAX = 200_000
/** The findings of one line that are compared with those of another. */
const AT_LINE_MAX = 20
/** The weight of two lines with more findings of one rule each, which is enough for a chain. */
const CROWD = 4

/** The pairs of lines of a file, with the evidence of all findings at them. */
export class LinePairs {
  readonly #file: ComparedFile
  readonly #rows = new Map<number, Map<number, LinePair>>()

  constructor(file: ComparedFile) {
    this.#file = file
  }

  add({ from, to, weight, strongest }: LinePair): void {
    const row = this.#rows.get(from) ?? new Map<number, LinePair>()
    this.#rows.set(from, row)
    const sum = row.get(to) ?? { weight: 0, strongest: 0 }
    row.set(to, { from, to, weight: sum.weight + weight, strongest: Math.max(sum.strongest, strongest) })
  }

  sorted(): LinePair[] {
    const rows = [...this.#rows].sort(([a], [b]) => a - b)
    return rows.flatMap(([, row]) => [...row.values()].sort((a, b) => a.to - b.to))
  }

  /** Adds the lines at which free findings have the same rule, or the same content. */
  addFree(by: 'rule' | 'content'): void {
    const groups = this.#commonGroups(by === 'rule' ? getRule : getContent)
    const total = groups.reduce((sum, { stored, reported }) => sum + stored.length * reported.length, 0)
    if (total > PAIRS_MAX && by === 'rule') {
      this.addFree('content')
      return
    }
    const share = Math.min(1, PAIRS_MAX / Math.max(1, total))
    for (const group of groups) this.#addGroup(group, share)
  }

  #commonGroups(keyOf: (finding: TrackedFinding) => string): Group[] {
    const { matching } = this.#file
    const placed = (finding: TrackedFinding) =>
      finding.start_line === null || isOfPackage(finding) ? null : keyOf(finding)
    const reported = this.#file.freeBy('reported', placed)
    return [...this.#file.freeBy('stored', placed)].flatMap(([key, indexes]) => {
      const others = reported.get(key)
      if (others === undefined) return []
      return [{ stored: groupByLine(matching.stored, indexes), reported: groupByLine(matching.reported, others) }]
    })
  }

  /** Of very many lines, only those of about the same rank are compared. */
  #addGroup({ stored, reported }: Group, share: number): void {
    const reach = share === 1 ? reported.length : Math.max(1, (share * reported.length) / 2)
    const slope = reported.length / stored.length
    for (const [rank, [from, candidates]] of stored.entries()) {
      const first = Math.max(0, Math.floor(rank * slope - reach))
      for (const [to, others] of reported.slice(first, Math.ceil(rank * slope + reach) + 1)) {
        const weight = this.#bestWeight(candidates, others)
        this.add({ from, to, weight, strongest: weight })
      }
    }
  }

  #bestWeight(candidates: number[], others: number[]): number {
    let best = Math.min(candidates.length, others.length) > AT_LINE_MAX ? CROWD : 0
    for (const stored of candidates.slice(0, AT_LINE_MAX)) {
      for (const reported of others.slice(0, AT_LINE_MAX)) {
        best = Math.max(best, this.#file.evidence([stored, reported]).weight)
      }
    }
    return best
  }
}

/** The free findings of one rule or content, by line. */
type Group = { stored: LineFindings[]; reported: LineFindings[] }
type LineFindings = [line: number, indexes: number[]]

/** Findings by their line, in the order of lines. */
export function groupByLine(findings: readonly TrackedFinding[], indexes: readonly number[]): LineFindings[] {
  const lines = groupIndexes(indexes, (index) => findings[index]?.start_line ?? null)
  return [...lines].sort(([a], [b]) => a - b)
}
