import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { ComparedFile } from './compared-file.ts'
import type { LinePair } from './line-chain.ts'
import {
  getContent,
  getRule,
  getShape,
  groupIndexes,
  isOfPackage,
  type Matching,
  type Pair,
  type Side,
  type TrackedFinding,
} from './matching.ts'

/** More findings of one line are matched by their fingerprints and columns only. */
const COMPARED_MAX = 30

/** The methods for findings whose content is the same, and for edited ones. */
export type Methods = { same: IdentityMethod; edited: IdentityMethod | null }

/** Matches the free findings at the lines of a chain. */
export function matchAlong(file: ComparedFile, chain: readonly LinePair[], methods: Methods): void {
  const stored = new Map(groupByLine(file.matching.stored, file.stored))
  const reported = new Map(groupByLine(file.matching.reported, file.reported))
  for (const { from, to } of chain) {
    const sides = { stored: stored.get(from) ?? [], reported: reported.get(to) ?? [] }
    matchEqual(file.matching, sides, methods.same)
    matchBest(file, sides, methods)
  }
}

type Sides = Record<Side, readonly number[]>

/**
 * Equal findings of one line are in the order of their columns. If their number changed and they
 * are too many to be compared, those at the same columns come first.
 */
function matchEqual(matching: Matching, sides: Sides, method: IdentityMethod): void {
  const others = freeByFingerprint(matching, 'reported', sides)
  for (const [fingerprint, indexes] of freeByFingerprint(matching, 'stored', sides)) {
    const equal = others.get(fingerprint) ?? []
    const isCounted = equal.length === indexes.length
    if (!isCounted && Math.max(equal.length, indexes.length) <= COMPARED_MAX) continue
    if (!isCounted) matchColumns(matching, { stored: indexes, reported: equal }, method)
    matchRanks(matching, { stored: indexes, reported: equal }, method)
  }
}

function matchColumns(matching: Matching, { stored, reported }: Sides, method: IdentityMethod): void {
  const others = groupIndexes(reported, (index) => getShape(matching.reported[index] as TrackedFinding))
  for (const [shape, indexes] of groupIndexes(stored, (index) => getShape(matching.stored[index] as TrackedFinding))) {
    matchRanks(matching, { stored: indexes, reported: others.get(shape) ?? [] }, method)
  }
}

function matchRanks(matching: Matching, { stored, reported }: Sides, method: IdentityMethod): void {
  const free = reported.filter((index) => matching.isFree('reported', index))
  const pairs = stored.filter((index) => matching.isFree('stored', index)).slice(0, free.length)
  for (const [rank, from] of pairs.entries()) matching.match([from, free[rank] as number], method)
}

function freeByFingerprint(matching: Matching, side: Side, sides: Sides): Map<string, number[]> {
  const findings = matching[side]
  const free = sides[side].filter((index) => matching.isFree(side, index))
  free.sort((a, b) => (findings[a]?.start_column ?? 0) - (findings[b]?.start_column ?? 0))
  return groupIndexes(free, (index) => findings[index]?.fingerprint ?? null)
}

/** The rest of a line: the best pairs first. */
function matchBest(file: ComparedFile, sides: Sides, methods: Methods): void {
  const { matching } = file
  const free = sides.stored.filter((index) => matching.isFree('stored', index)).slice(0, COMPARED_MAX)
  const others = sides.reported.filter((index) => matching.isFree('reported', index)).slice(0, COMPARED_MAX)
  const candidates = free.flatMap((from) => others.flatMap((to) => toCandidates(file, [from, to])))
  for (const { pair, isSame } of candidates.sort((a, b) => b.weight - a.weight)) {
    const method = isSame ? methods.same : methods.edited
    if (method !== null) matching.match(pair, method)
  }
}

type Candidate = { pair: Pair; weight: number; isSame: boolean }

function toCandidates(file: ComparedFile, pair: Pair): Candidate[] {
  const stored = file.matching.stored[pair[0]] as TrackedFinding
  const reported = file.matching.reported[pair[1]] as TrackedFinding
  if (getRule(stored) !== getRule(reported)) return []
  const distance = Math.abs((stored.start_column ?? 0) - (reported.start_column ?? 0))
  const { weight, isSame } = file.evidence(pair)
  return [{ pair, weight: weight - distance / 1000, isSame }]
}

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
function groupByLine(findings: readonly TrackedFinding[], indexes: readonly number[]): LineFindings[] {
  const lines = groupIndexes(indexes, (index) => findings[index]?.start_line ?? null)
  return [...lines].sort(([a], [b]) => a - b)
}
