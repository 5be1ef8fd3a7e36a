import { evidenceOf } from './evidence.ts'
import type { LinePair } from './frontier.ts'
import { groupedBy, type Matching } from './matching.ts'
import { contentOf, isOfPackage, ruleOf, type TrackedFinding } from './tracked-finding.ts'

/** The findings of a file on both sides, as indexes. */
export type FileFindings = { readonly stored: readonly number[]; readonly reported: readonly number[] }

/** The pairs of lines that are compared in one file. */
const PAIRS_MAX = 300_000
/** The findings of one line that are compared with those of another. */
const AT_LINE_MAX = 20

/** Sums up the evidence of findings by their pairs of lines. */
export class LinePairs {
  readonly #rows = new Map<number, Map<number, number>>()

  add(from: number, to: number, weight: number): void {
    const row = this.#rows.get(from) ?? new Map<number, number>()
    this.#rows.set(from, row)
    row.set(to, (row.get(to) ?? 0) + weight)
  }

  sorted(): LinePair[] {
    const rows = [...this.#rows].sort(([a], [b]) => a - b)
    return rows.flatMap(([from, row]) =>
      [...row].sort(([a], [b]) => a - b).map(([to, weight]) => ({ from, to, weight })),
    )
  }
}

/** Adds the pairs of lines at which free findings have the same rule, or the same content. */
export function addFreePairs(pairs: LinePairs, matching: Matching, file: FileFindings, by: 'rule' | 'content'): void {
  const groups = commonGroups(matching, file, by === 'rule' ? ruleOf : contentOf)
  const total = groups.reduce((sum, { stored, reported }) => sum + stored.length * reported.length, 0)
  if (total > PAIRS_MAX && by === 'rule') {
    addFreePairs(pairs, matching, file, 'content')
    return
  }
  const share = Math.min(1, PAIRS_MAX / Math.max(1, total))
  for (const group of groups) addGroup(pairs, matching, group, share)
}

/** The free findings of one rule or content, by line. */
type Group = { stored: LineFindings[]; reported: LineFindings[] }
type LineFindings = [line: number, indexes: number[]]

function commonGroups(matching: Matching, file: FileFindings, keyOf: (finding: TrackedFinding) => string): Group[] {
  const reported = freeInLines(matching, 'reported', file.reported, keyOf)
  return [...freeInLines(matching, 'stored', file.stored, keyOf)].flatMap(([key, indexes]) => {
    const others = reported.get(key)
    if (others === undefined) return []
    return [{ stored: byLine(matching.stored, indexes), reported: byLine(matching.reported, others) }]
  })
}

function freeInLines(
  matching: Matching,
  side: 'stored' | 'reported',
  indexes: readonly number[],
  keyOf: (finding: TrackedFinding) => string,
): Map<string, number[]> {
  return groupedBy(indexes, (index) => {
    const finding = matching[side][index] as TrackedFinding
    return matching.isFree(side, index) && finding.start_line !== null && !isOfPackage(finding) ? keyOf(finding) : null
  })
}

/** Findings by their line, in the order of lines. */
export function byLine(findings: readonly TrackedFinding[], indexes: readonly number[]): LineFindings[] {
  const lines = groupedBy(indexes, (index) => findings[index]?.start_line ?? null)
  return [...lines].sort(([a], [b]) => a - b)
}

/** Of very many lines, only those of about the same rank are compared. */
function addGroup(pairs: LinePairs, matching: Matching, { stored, reported }: Group, share: number): void {
  const reach = share === 1 ? reported.length : Math.max(1, (share * reported.length) / 2)
  const slope = reported.length / stored.length
  for (const [rank, [from, candidates]] of stored.entries()) {
    const first = Math.max(0, Math.floor(rank * slope - reach))
    for (const [to, others] of reported.slice(first, Math.ceil(rank * slope + reach) + 1)) {
      pairs.add(from, to, bestWeight(matching, candidates, others))
    }
  }
}

function bestWeight(matching: Matching, candidates: number[], others: number[]): number {
  let best = 0
  for (const stored of candidates.slice(0, AT_LINE_MAX)) {
    for (const reported of others.slice(0, AT_LINE_MAX)) {
      const from = matching.stored[stored] as TrackedFinding
      best = Math.max(best, evidenceOf(from, matching.reported[reported] as TrackedFinding).weight)
    }
  }
  return best
}
