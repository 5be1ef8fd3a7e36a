import { breakLines } from './broken-lines.ts'
import { doubt, edit, type FileLines, type Gap, gapsOf, isTrivial } from './file-lines.ts'
import { freeLines, type Line, similarity, withoutBrackets } from './line-text.ts'

const SIMILAR = 0.6
/** Below this, a deleted and an added line have nothing in common. */
const DOUBTFUL = 0.25
const LARGEST_GAP = 60_000
/** A line this much less similar is not a rival for a pair. */
const MARGIN = 0.03

type Candidates = { olds: Line[]; news: Line[]; similarity: (oldAt: number, newAt: number) => number }

/** Pairs the lines that were edited in place: first those that were only broken or joined. */
export function editLines(file: FileLines): void {
  for (const gap of gapsOf(file)) breakLines(file, gap)
  for (const gap of gapsOf(file)) editGap(file, gap)
}

function editGap(file: FileLines, gap: Gap): void {
  const { olds, news } = freeLines(file, gap, (text) => !isTrivial(text))
  if (olds.length === 0 || news.length === 0) return
  if (olds.length * news.length > LARGEST_GAP) {
    for (const { line } of olds) doubt(file, line)
    return
  }
  const table = olds.map((old) => news.map((candidate) => similarity(old, candidate)))
  const candidates = { olds, news, similarity: (oldAt: number, newAt: number) => table[oldAt]?.[newAt] ?? 0 }
  settle(file, candidates, bestAlignment(candidates))
}

function settle(file: FileLines, candidates: Candidates, pairs: Map<number, number>): void {
  const taken = new Set(pairs.values())
  for (const [oldAt, { line }] of candidates.olds.entries()) {
    const newAt = pairs.get(oldAt)
    const free = candidates.news.map((_, at) => at).filter((at) => !taken.has(at))
    const rival = Math.max(0, ...free.map((at) => candidates.similarity(oldAt, at)))
    const paired = newAt === undefined ? 0 : candidates.similarity(oldAt, newAt)
    const target = candidates.news[newAt ?? -1]
    if (target !== undefined && rival < paired - MARGIN && !hasRival(candidates, pairs, oldAt)) {
      const start = statementStart(candidates, [oldAt, newAt ?? 0], taken)
      edit(file, line, [start, target.line - start + 1])
    } else if (target !== undefined || rival >= DOUBTFUL) doubt(file, line)
  }
}

/** The line at which a statement begins that was edited and broken into several lines. */
function statementStart({ olds, news }: Candidates, [oldAt, newAt]: [number, number], taken: Set<number>): number {
  const text = withoutBrackets(olds[oldAt]?.text ?? '')
  let start = newAt
  for (let before = newAt - 1; before >= 0 && !taken.has(before); before -= 1) {
    const head = news.slice(before, newAt).map((line) => withoutBrackets(line.text))
    if (text.startsWith(head.join(''))) start = before
  }
  return news[start]?.line ?? 0
}

/** Whether an old line without a partner is as similar to the new line of this pair. */
function hasRival(candidates: Candidates, pairs: Map<number, number>, oldAt: number): boolean {
  const newAt = pairs.get(oldAt) ?? -1
  const least = candidates.similarity(oldAt, newAt) - MARGIN
  return candidates.olds.some((_, at) => !pairs.has(at) && candidates.similarity(at, newAt) >= least)
}

/** The pairs in order with the greatest sum of similarity, none of them below the threshold. */
function bestAlignment({ olds, news, similarity: of }: Candidates): Map<number, number> {
  const best = olds.map(() => new Float64Array(news.length + 1))
  best.push(new Float64Array(news.length + 1))
  const at = (oldAt: number, newAt: number) => best[oldAt]?.[newAt] ?? 0
  const through = (oldAt: number, newAt: number) =>
    of(oldAt, newAt) >= SIMILAR ? of(oldAt, newAt) + at(oldAt + 1, newAt + 1) : -1
  for (let oldAt = olds.length - 1; oldAt >= 0; oldAt -= 1) {
    const row = best[oldAt] ?? new Float64Array()
    for (let newAt = news.length - 1; newAt >= 0; newAt -= 1) {
      row[newAt] = Math.max(at(oldAt + 1, newAt), at(oldAt, newAt + 1), through(oldAt, newAt))
    }
  }
  const pairs = new Map<number, number>()
  for (let oldAt = 0, newAt = 0; oldAt < olds.length && newAt < news.length; ) {
    if (through(oldAt, newAt) === at(oldAt, newAt)) pairs.set(oldAt++, newAt++)
    else if (at(oldAt + 1, newAt) === at(oldAt, newAt)) oldAt += 1
    else newAt += 1
  }
  return pairs
}
