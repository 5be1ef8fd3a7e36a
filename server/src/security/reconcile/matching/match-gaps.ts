import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { ComparedFile } from './compared-file.ts'
import type { LinePair } from './frontier.ts'
import { getRule, isOfPackage, type Pair, type TrackedFinding } from './tracked-finding.ts'

/** The findings of one rule between two lines that are compared with each other. */
const COMPARED_MAX = 200

/**
 * Matches edited findings: those of one rule between two neighbours that kept their order, if the
 * text is alike or the line is where the neighbours predict it.
 */
export function matchGaps(
  file: ComparedFile,
  chain: readonly LinePair[],
  methods: { same: IdentityMethod; edited: IdentityMethod },
): void {
  const { matching } = file
  const reported = file.freeBy('reported', ruleOfPlaced)
  for (const [rule, indexes] of file.freeBy('stored', ruleOfPlaced)) {
    const others = (reported.get(rule) ?? []).slice(0, COMPARED_MAX)
    const candidates = indexes.slice(0, COMPARED_MAX).flatMap((from) => {
      const gap = gapAt(chain, getLine(matching.stored, from))
      return others.flatMap((to) => toCandidates(file, [from, to], gap))
    })
    for (const { pair, isSame } of candidates.sort((a, b) => b.score - a.score)) {
      matching.match(pair, isSame ? methods.same : methods.edited)
    }
  }
}

function ruleOfPlaced(finding: TrackedFinding): string | null {
  return finding.start_line === null || isOfPackage(finding) ? null : getRule(finding)
}

function getLine(findings: readonly TrackedFinding[], index: number): number {
  return findings[index]?.start_line ?? 0
}

/** The neighbours of a line in the chain. */
type Gap = { before: LinePair; after: LinePair | null }

const TOP: LinePair = { from: 0, to: 0, weight: 0, strongest: 0 }

function gapAt(chain: readonly LinePair[], line: number): Gap {
  let low = 0
  let high = chain.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chain[middle]?.from ?? 0) < line) low = middle + 1
    else high = middle
  }
  const isAtLine = chain[low]?.from === line
  return { before: chain[isAtLine ? low : low - 1] ?? TOP, after: chain[low] ?? null }
}

type Candidate = { pair: Pair; isSame: boolean; score: number }

function toCandidates(file: ComparedFile, pair: Pair, { before, after }: Gap): Candidate[] {
  const { matching } = file
  const from = getLine(matching.stored, pair[0])
  const to = getLine(matching.reported, pair[1])
  if (to < before.to || to > (after?.to ?? Number.POSITIVE_INFINITY)) return []
  const offset = to - from
  const distance = Math.min(
    Math.abs(offset - (before.to - before.from)),
    after === null ? Number.POSITIVE_INFINITY : Math.abs(offset - (after.to - after.from)),
  )
  const { likeness, isSame, isInPlace } = file.evidence(pair)
  if (!isPlausible(likeness, isInPlace ? distance / 3 : distance)) return []
  return [{ pair, isSame, score: 10 * (likeness ?? Number(isSame)) - Math.log2(1 + distance) }]
}

function isPlausible(likeness: number | null, distance: number): boolean {
  if (likeness === null) return distance <= 1
  if (likeness >= 0.4) return true
  return likeness >= 0.15 ? distance <= 10 : distance <= 1
}
