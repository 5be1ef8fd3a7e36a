import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { ComparedFile } from './compared-file.ts'
import type { LinePair } from './frontier.ts'
import { removeStrays, selectBestChain } from './line-chain.ts'
import { LinePairs } from './line-pairs.ts'
import { matchGaps } from './match-gaps.ts'
import { matchAlong } from './match-lines.ts'
import { getContent, getRule, hasContent, isOfPackage, type TrackedFinding } from './tracked-finding.ts'

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
  matchInOrder(file, moved, movableContent)
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

/** A message alone does not move: other code has it as well. */
function movableContent(finding: TrackedFinding): string | null {
  return hasContent(finding) ? getContent(finding) : null
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
