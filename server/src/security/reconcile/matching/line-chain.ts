import { computeEditCost, Frontier, type LinePair } from './frontier.ts'

export type LineChain = { pairs: LinePair[]; score: number }

/**
 * The pairs with the most evidence that keep the order of lines on both sides. A change of the
 * offset between two lines means an edit between them, which costs evidence. The pairs must be
 * sorted by both lines.
 */
export function selectBestChain(pairs: readonly LinePair[], startOffset: number | null): LineChain {
  const frontier = new Frontier(pairs)
  const before = new Int32Array(pairs.length).fill(-1)
  let best = -1
  for (let row = 0; row < pairs.length; ) {
    const end = endOfRow(pairs, row)
    for (let index = row; index < end; index++) {
      const pair = pairs[index] as LinePair
      const start = startOffset === null ? 0 : -computeEditCost(pair.to - pair.from - startOffset)
      const { score, last } = frontier.bestBefore(pair, start)
      before[index] = last
      frontier.scores[index] = score + pair.weight
      if (best === -1 || score + pair.weight > (frontier.scores[best] ?? 0)) best = index
    }
    for (let index = row; index < end; index++) frontier.add(index)
    row = end
  }
  return { pairs: chainEndingAt(best, pairs, before), score: best === -1 ? 0 : (frontier.scores[best] ?? 0) }
}

function endOfRow(pairs: readonly LinePair[], start: number): number {
  let end = start + 1
  while (pairs[end]?.from === pairs[start]?.from && end < pairs.length) end++
  return end
}

function chainEndingAt(last: number, pairs: readonly LinePair[], before: Int32Array): LinePair[] {
  const chain: LinePair[] = []
  for (let index = last; index !== -1; index = before[index] ?? -1) chain.push(pairs[index] as LinePair)
  return chain.reverse()
}

/** The evidence of one finding by which its line is recognized without its neighbours. */
const ALONE_MIN = 4
/** How much of the distance between two lines stays where the code between them is edited. */
const DISTANCE_MIN = 0.7

/**
 * The pairs without those of little evidence that do not agree with their neighbours. Many findings
 * of one line that other lines have as well are little evidence, too.
 */
export function removeStrays(chain: readonly LinePair[]): LinePair[] {
  return chain.filter((pair, at) => {
    const [before, after] = [chain[at - 1], chain[at + 1]]
    if (pair.strongest >= ALONE_MIN || hasSameOffset(pair, before) || hasSameOffset(pair, after)) return true
    return pair.weight >= ALONE_MIN && isNearAsBefore(before, pair) && isNearAsBefore(pair, after)
  })
}

function hasSameOffset(pair: LinePair, neighbour: LinePair | undefined): boolean {
  return neighbour !== undefined && pair.to - pair.from === neighbour.to - neighbour.from
}

/** Whether two lines are about as far from each other as before the change. */
function isNearAsBefore(first: LinePair | undefined, second: LinePair | undefined): boolean {
  if (first === undefined || second === undefined) return true
  const [before, after] = [second.from - first.from, second.to - first.to]
  return Math.min(before, after) >= DISTANCE_MIN * Math.max(before, after)
}
