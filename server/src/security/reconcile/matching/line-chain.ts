type LineChain = { pairs: LinePair[]; score: number }

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
    let end = row + 1
    while (pairs[end]?.from === pairs[row]?.from && end < pairs.length) end++
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

/** A line before and after a change. */
export type LinePair = {
  readonly from: number
  readonly to: number
  /** The evidence of all its findings that it is the same line. */
  readonly weight: number
  /** The evidence of the finding that says most. */
  readonly strongest: number
}

/** The cost of an edit that adds or removes lines. Small edits are likelier than large ones. */
function computeEditCost(lines: number): number {
  return lines === 0 ? 0 : 1 + 0.4 * Math.log2(1 + Math.abs(lines))
}

/**
 * Widths, in lines, of the ranges of offsets in which the best end of a chain is looked for. The
 * last one is the range of all offsets.
 */
const WIDTHS = [1, 8, 64, 2 ** 32]

/** Of equally good chains, the best is the one whose lines were added or removed last. */
const TIE = 1e-9

/** The ends of chains so far, among which the best one for the next pair is looked for. */
class Frontier {
  readonly scores: Float64Array
  readonly #pairs: readonly LinePair[]
  readonly #ranges = WIDTHS.map(() => new Map<number, Skyline>())

  constructor(pairs: readonly LinePair[]) {
    this.#pairs = pairs
    this.scores = new Float64Array(pairs.length)
  }

  /** The best chain that the pair can continue; -1 and the start's score if starting is better. */
  bestBefore(pair: LinePair, start: number): { score: number; last: number } {
    let best = { score: start, last: -1 }
    const offset = pair.to - pair.from
    for (const [level, width] of WIDTHS.entries()) {
      const range = Math.floor(offset / width)
      const reach = level === 0 ? 0 : 1
      for (let near = range - reach; near <= range + reach; near++) {
        const last = this.#ranges[level]?.get(near)?.lastBefore(pair.to) ?? -1
        if (last === -1) continue
        const score = (this.scores[last] ?? 0) - computeEditCost(offset - this.#offset(last))
        if (score > best.score - TIE) best = { score, last }
      }
    }
    return best
  }

  /** Adds the chain that ends with the pair. */
  add(index: number): void {
    for (const [level, width] of WIDTHS.entries()) {
      const ranges = this.#ranges[level] as Map<number, Skyline>
      const range = Math.floor(this.#offset(index) / width)
      const skyline = ranges.get(range) ?? new Skyline()
      ranges.set(range, skyline)
      skyline.add((this.#pairs[index] as LinePair).to, this.scores[index] ?? 0, index)
    }
  }

  #offset(index: number): number {
    const pair = this.#pairs[index] as LinePair
    return pair.to - pair.from
  }
}

/** Chain ends by line, of which each has a higher score than all ends at earlier lines. */
class Skyline {
  readonly #lines: number[] = []
  readonly #scores: number[] = []
  readonly #indexes: number[] = []

  /** The index of the best end before the line, or -1. */
  lastBefore(line: number): number {
    return this.#indexes[this.#countBefore(line) - 1] ?? -1
  }

  add(line: number, score: number, index: number): void {
    const at = this.#countBefore(line)
    if (at > 0 && (this.#scores[at - 1] ?? 0) >= score) return
    let worse = at
    if (this.#lines[at] === line && (this.#scores[at] ?? 0) >= score) return
    while (worse < this.#lines.length && (this.#scores[worse] ?? 0) <= score) worse++
    this.#lines.splice(at, worse - at, line)
    this.#scores.splice(at, worse - at, score)
    this.#indexes.splice(at, worse - at, index)
  }

  #countBefore(line: number): number {
    let low = 0
    let high = this.#lines.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#lines[middle] ?? 0) < line) low = middle + 1
      else high = middle
    }
    return low
  }
}
