import { evidenceOf } from './evidence.ts'
import type { LinePair } from './frontier.ts'
import { bestChain } from './line-chain.ts'
import { addFreePairs, byLine, type FileFindings, LinePairs } from './line-pairs.ts'
import { matchGaps } from './match-gaps.ts'
import { type Methods, matchLines } from './match-lines.ts'
import { groupedBy, type Matching } from './matching.ts'
import type { IdentityMethod } from '../../vocabulary/finding.ts'
import { contentOf, type TrackedFinding } from './tracked-finding.ts'

/** The evidence that a moved block needs: more than one text. */
const BLOCK_MIN = 10
/** The blocks that are looked for in one file. */
const BLOCKS_MAX = 20
/** Findings that are matched with certainty count more than what the rules find. */
const CERTAINTY = 4

/**
 * Matches the free findings of a file: along the lines that kept their order, between them, and in
 * blocks that moved.
 */
export function alignFile(matching: Matching, file: FileFindings, methods: FileMethods): void {
  matchUnplaced(matching, file, methods.same)
  const pairs = new LinePairs()
  const anchors = anchorsOf(matching, file)
  for (const { from, to, weight } of anchors) pairs.add(from, to, weight)
  addFreePairs(pairs, matching, file, 'rule')
  const { pairs: chain } = bestChain(pairs.sorted(), 0)
  matchAlong(matching, file, chain, methods)
  matchGaps(matching, file, chain, methods.edited)
  matchBlocks(matching, file, anchorsOutside(anchors, chain), methods.moved)
  matchMoved(matching, file, methods.moved)
}

export type FileMethods = { same: IdentityMethod; edited: IdentityMethod; moved: IdentityMethod }

/** Findings without a line are in the order of the report. */
function matchUnplaced(matching: Matching, file: FileFindings, method: IdentityMethod): void {
  const reported = freeByContent(matching, 'reported', file.reported, isUnplaced)
  for (const [content, indexes] of freeByContent(matching, 'stored', file.stored, isUnplaced)) {
    const others = reported.get(content) ?? []
    for (const [rank, from] of indexes.slice(0, others.length).entries()) {
      matching.match([from, others[rank] as number], method)
    }
  }
}

function isUnplaced({ start_line }: TrackedFinding): boolean {
  return start_line === null
}

function freeByContent(
  matching: Matching,
  side: 'stored' | 'reported',
  indexes: readonly number[],
  isWanted: (finding: TrackedFinding) => boolean,
): Map<string, number[]> {
  return groupedBy(indexes, (index) => {
    const finding = matching[side][index] as TrackedFinding
    return matching.isFree(side, index) && isWanted(finding) ? contentOf(finding) : null
  })
}

/** The lines of findings that are matched already. */
function anchorsOf(matching: Matching, { stored, reported }: FileFindings): LinePair[] {
  const inFile = new Set(reported)
  return stored.flatMap((index) => {
    const from = matching.stored[index] as TrackedFinding
    const partner = matching.partnerOf('stored', index)
    const to = matching.reported[partner]
    if (to === undefined || !inFile.has(partner) || from.start_line === null || to.start_line === null) return []
    return [{ from: from.start_line, to: to.start_line, weight: evidenceOf(from, to).weight + CERTAINTY }]
  })
}

function anchorsOutside(anchors: readonly LinePair[], chain: readonly LinePair[]): LinePair[] {
  const lines = new Map(chain.map(({ from, to }) => [from, to]))
  return anchors.filter(({ from, to }) => lines.get(from) !== to)
}

function matchAlong(matching: Matching, file: FileFindings, chain: readonly LinePair[], methods: Methods): void {
  const stored = new Map(byLine(matching.stored, file.stored))
  const reported = new Map(byLine(matching.reported, file.reported))
  for (const { from, to } of chain) {
    matchLines(matching, stored.get(from) ?? [], reported.get(to) ?? [], methods)
  }
}

/** Blocks that moved to another place of the file are further chains of equal findings. */
function matchBlocks(matching: Matching, file: FileFindings, anchors: LinePair[], method: IdentityMethod): void {
  let outside = anchors
  for (let block = 0; block < BLOCKS_MAX; block++) {
    const pairs = new LinePairs()
    for (const { from, to, weight } of outside) pairs.add(from, to, weight)
    addFreePairs(pairs, matching, file, 'content')
    const chain = bestChain(pairs.sorted(), null)
    if (chain.score < BLOCK_MIN) return
    matchAlong(matching, file, chain.pairs, { same: method, edited: null })
    outside = anchorsOutside(outside, chain.pairs)
  }
}

/** Equal findings that are left moved, if there are equally many of them. */
function matchMoved(matching: Matching, file: FileFindings, method: IdentityMethod): void {
  const reported = freeByContent(matching, 'reported', file.reported, () => true)
  for (const [content, indexes] of freeByContent(matching, 'stored', file.stored, () => true)) {
    const others = reported.get(content) ?? []
    if (others.length !== indexes.length) continue
    const targets = byLine(matching.reported, others).flatMap(([, at]) => at)
    for (const [rank, from] of byLine(matching.stored, indexes)
      .flatMap(([, at]) => at)
      .entries()) {
      const to = targets[rank]
      if (to !== undefined) matching.match([from, to], method)
    }
  }
}
