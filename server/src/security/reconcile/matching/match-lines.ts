import { evidenceOf, isSameContent } from './evidence.ts'
import type { Matching } from './matching.ts'
import { groupedBy } from './matching.ts'
import type { IdentityMethod } from '../../vocabulary/finding.ts'
import { type Pair, ruleOf, type TrackedFinding } from './tracked-finding.ts'

/** More findings of one line are matched by their fingerprints only. */
const COMPARED_MAX = 30

/** The methods for findings whose content is the same, and for edited ones. */
export type Methods = { same: IdentityMethod; edited: IdentityMethod | null }

/** Matches the free findings of one line before and after a change, the best pairs first. */
export function matchLines(
  matching: Matching,
  stored: readonly number[],
  reported: readonly number[],
  methods: Methods,
): void {
  matchEqual(matching, stored, reported, methods.same)
  const free = stored.filter((index) => matching.isFree('stored', index)).slice(0, COMPARED_MAX)
  const others = reported.filter((index) => matching.isFree('reported', index)).slice(0, COMPARED_MAX)
  const candidates = free.flatMap((from) => others.flatMap((to) => candidateOf(matching, [from, to])))
  for (const { pair, isSame } of candidates.sort((a, b) => b.weight - a.weight)) {
    const method = isSame ? methods.same : methods.edited
    if (method !== null) matching.match(pair, method)
  }
}

/** Equal findings of one line are in the order of their columns. */
function matchEqual(
  matching: Matching,
  stored: readonly number[],
  reported: readonly number[],
  method: IdentityMethod,
): void {
  const others = freeByFingerprint(matching, 'reported', reported)
  for (const [fingerprint, indexes] of freeByFingerprint(matching, 'stored', stored)) {
    const equal = others.get(fingerprint) ?? []
    if (equal.length !== indexes.length) continue
    for (const [rank, from] of indexes.entries()) matching.match([from, equal[rank] as number], method)
  }
}

function freeByFingerprint(matching: Matching, side: 'stored' | 'reported', indexes: readonly number[]) {
  const findings = matching[side]
  const free = indexes.filter((index) => matching.isFree(side, index))
  free.sort((a, b) => (findings[a]?.start_column ?? 0) - (findings[b]?.start_column ?? 0))
  return groupedBy(free, (index) => findings[index]?.fingerprint ?? null)
}

type Candidate = { pair: Pair; weight: number; isSame: boolean }

function candidateOf(matching: Matching, pair: Pair): Candidate[] {
  const stored = matching.stored[pair[0]] as TrackedFinding
  const reported = matching.reported[pair[1]] as TrackedFinding
  if (ruleOf(stored) !== ruleOf(reported)) return []
  const distance = Math.abs((stored.start_column ?? 0) - (reported.start_column ?? 0))
  const weight = evidenceOf(stored, reported).weight - distance / 1000
  return [{ pair, weight, isSame: isSameContent(stored, reported) }]
}
