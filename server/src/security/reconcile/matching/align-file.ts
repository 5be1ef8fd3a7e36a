import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { ComparedFile } from './compared-file.ts'
import { type LinePair, removeStrays, selectBestChain } from './line-chain.ts'
import { LinePairs, matchAlong } from './match-lines.ts'
import { getContent, getRule, hasContent, isOfPackage, type Pair, type TrackedFinding } from './matching.ts'

/** The evidence that a moved block needs: more than one text. */
const BLOCK_MIN = 10
/** The blocks that are looked for in one file. */
const BLOCKS_MAX = 20
/** Files with more equal findings are not searched for blocks, which would take seconds. */
const BLOCK_PAIRS_MAX = 50_000
/** Findings that are matched with certainty count more than what the rules find. */
const CERTAINTY = 4

/**
 * Matches the findings of a file that have the same content: in their order, and in blocks that
 * moved.
 */
export function matchSame(file: ComparedFile, inOrder: IdentityMethod, moved: IdentityMethod): void {
  matchInOrder(file, inOrder, unplacedContent)
  if (!file.hasFree()) return
  const anchors = collectAnchors(file)
  const chain = removeStrays(selectBestChain(collectPairs(file, anchors, 'rule'), 0).pairs)
  matchAlong(file, chain, { same: inOrder, edited: null })
  matchBlocks(file, anchorsOutside(anchors, chain), moved)
  // A message alone does not move: other code has it as well.
  matchInOrder(file, moved, (finding) => (hasContent(finding) ? getContent(finding) : null))
}

/** Matches edited findings of a file: along the lines that kept their order, and between them. */
export function matchEdited(file: ComparedFile, methods: { same: IdentityMethod; edited: IdentityMethod }): void {
  if (!file.hasFree()) return
  matchInOrder(file, methods.edited, unplacedRule)
  const chain = removeStrays(selectBestChain(collectPairs(file, collectAnchors(file), 'rule'), 0).pairs)
  matchAlong(file, chain, methods)
  matchGaps(file, chain, methods)
}

function unplacedContent(finding: TrackedFinding): string | null {
  return finding.start_line === null || isOfPackage(finding) ? getContent(finding) : null
}

/** The rule and resource of a finding without a line, of which only the message is known. */
function unplacedRule(finding: TrackedFinding): string | null {
  const { start_line, rule_id, resource_name } = finding
  if (start_line !== null || rule_id === null || hasContent(finding)) return null
  return JSON.stringify([getRule(finding), resource_name])
}

/** Equal findings are in the same order. Those with a line must be equally many on both sides. */
function matchInOrder(
  file: ComparedFile,
  method: IdentityMethod,
  keyOf: (finding: TrackedFinding) => string | null,
): void {
  const { matching } = file
  const reported = file.freeBy('reported', keyOf)
  for (const [content, indexes] of file.freeBy('stored', keyOf)) {
    const others = reported.get(content) ?? []
    if (others.length !== indexes.length && keyOf !== unplacedContent) continue
    const targets = inOrder(matching.reported, others)
    for (const [rank, from] of inOrder(matching.stored, indexes).slice(0, targets.length).entries()) {
      matching.match([from, targets[rank] as number], method)
    }
  }
}

function inOrder(findings: readonly TrackedFinding[], indexes: readonly number[]): number[] {
  return [...indexes].sort((a, b) => (findings[a]?.start_line ?? 0) - (findings[b]?.start_line ?? 0))
}

function collectPairs(file: ComparedFile, anchors: readonly LinePair[], by: 'rule' | 'content'): LinePair[] {
  const pairs = new LinePairs(file)
  for (const anchor of anchors) pairs.add(anchor)
  pairs.addFree(by)
  return pairs.sorted()
}

/** The lines of findings that are matched already. */
export function collectAnchors(file: ComparedFile): LinePair[] {
  const { matching } = file
  const inFile = new Set(file.reported)
  return file.stored.flatMap((index) => {
    const partner = matching.getPartner('stored', index)
    const from = matching.stored[index]?.start_line ?? null
    const to = matching.reported[partner]?.start_line ?? null
    if (from === null || to === null || !inFile.has(partner)) return []
    const weight = file.evidence([index, partner]).weight + CERTAINTY
    return [{ from, to, weight, strongest: weight }]
  })
}

function anchorsOutside(anchors: readonly LinePair[], chain: readonly LinePair[]): LinePair[] {
  const lines = new Map(chain.map(({ from, to }) => [from, to]))
  return anchors.filter(({ from, to }) => lines.get(from) !== to)
}

/** Blocks that moved to another place are further chains of equal findings. */
export function matchBlocks(file: ComparedFile, anchors: LinePair[], method: IdentityMethod): void {
  let outside = anchors
  for (let count = 0; count < BLOCKS_MAX; count++) {
    const pairs = collectPairs(file, outside, 'content')
    if (pairs.length > BLOCK_PAIRS_MAX) return
    const chain = selectBestChain(pairs, null)
    if (chain.score < BLOCK_MIN) return
    const block = removeStrays(chain.pairs)
    if (block.length === 0) return
    matchAlong(file, block, { same: method, edited: null })
    outside = anchorsOutside(outside, chain.pairs)
  }
}

/** The findings of one rule between two lines that are compared with each other. */
const COMPARED_MAX = 200

/**
 * Matches edited findings: those of one rule between two neighbours that kept their order, if the
 * text is alike or the line is where the neighbours predict it.
 */
function matchGaps(
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
