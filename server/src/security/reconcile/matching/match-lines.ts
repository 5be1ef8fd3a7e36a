import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { ComparedFile } from './compared-file.ts'
import type { LinePair } from './frontier.ts'
import { groupByLine } from './line-pairs.ts'
import { groupIndexes, type Matching, type Side } from './matching.ts'
import { getRule, getShape, type Pair, type TrackedFinding } from './tracked-finding.ts'

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
