import { editCost, Frontier, type LinePair } from './frontier.ts'

export type LineChain = { pairs: LinePair[]; score: number }

/**
 * The pairs with the most evidence that keep the order of lines on both sides. A change of the
 * offset between two lines means an edit between them, which costs evidence. The pairs must be
 * sorted by both lines.
 */
export function bestChain(pairs: readonly LinePair[], startOffset: number | null): LineChain {
  const frontier = new Frontier(pairs)
  const before = new Int32Array(pairs.length).fill(-1)
  let best = -1
  for (let row = 0; row < pairs.length; ) {
    const end = endOfRow(pairs, row)
    for (let index = row; index < end; index++) {
      const pair = pairs[index] as LinePair
      const start = startOffset === null ? 0 : -editCost(pair.to - pair.from - startOffset)
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

/** The evidence by which a line is recognized without its neighbours. */
const ALONE_MIN = 4

/** The pairs without those of little evidence whose offset is not that of a neighbour. */
export function withoutStrays(chain: readonly LinePair[]): LinePair[] {
  const offsetAt = (at: number) => (chain[at]?.to ?? Number.NaN) - (chain[at]?.from ?? Number.NaN)
  return chain.filter(({ weight }, at) => {
    return weight >= ALONE_MIN || offsetAt(at) === offsetAt(at - 1) || offsetAt(at) === offsetAt(at + 1)
  })
}
