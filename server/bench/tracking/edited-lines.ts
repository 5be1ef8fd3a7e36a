import { claim, doubt, type FileLines, type Gap, gapsOf, isTrivial, squeeze } from './file-lines.ts'

const SIMILAR = 0.6
/** Below this, a deleted and an added line have nothing in common. */
const DOUBTFUL = 0.25
const LARGEST_GAP = 60_000
/** Characters without white space, and lines, that a statement in other lines has. */
const SHORTEST_BREAK = 12
const LONGEST_BREAK = 40
/** A line this much less similar is not a rival for a pair. */
const MARGIN = 0.03

type Line = { line: number; text: string; pairs: Map<string, number>; size: number }
type Candidates = { olds: Line[]; news: Line[]; similarity: (oldAt: number, newAt: number) => number }

/** Pairs the lines that were edited in place: first those that were only broken or joined. */
export function editLines(file: FileLines): void {
  for (const gap of gapsOf(file)) breakLines(file, gap)
  for (const gap of gapsOf(file)) editGap(file, gap)
}

/**
 * Lines that have the same text on both sides in other lines: each line becomes the line its first
 * character is in.
 */
function breakLines(file: FileLines, gap: Gap): void {
  const { olds, news } = freeLines(file, gap, (text) => squeeze(text) !== '')
  for (let oldAt = 0, newAt = 0; oldAt < olds.length; oldAt += 1) {
    for (let start = newAt; start < news.length; start += 1) {
      const [oldEnd, newEnd] = equalTextEnd({
        olds: olds.slice(oldAt, oldAt + LONGEST_BREAK),
        news: news.slice(start, start + LONGEST_BREAK),
      })
      if (oldEnd === 0) continue
      pairBroken(file, olds.slice(oldAt, oldAt + oldEnd), news.slice(start, start + newEnd))
      oldAt += oldEnd - 1
      newAt = start + newEnd
      break
    }
  }
}

/** How many lines of both sides, from the first, have the same text. Zero when none do. */
function equalTextEnd({ olds, news }: { olds: Line[]; news: Line[] }): [number, number] {
  let [oldText, newText] = [olds[0]?.text ?? '', news[0]?.text ?? '']
  let [oldEnd, newEnd] = [1, 1]
  while (oldText !== newText) {
    const oldShorter = oldText.length < newText.length
    const next = oldShorter ? olds[oldEnd++] : news[newEnd++]
    if (next === undefined || !(oldShorter ? newText.startsWith(oldText) : oldText.startsWith(newText))) return [0, 0]
    if (oldShorter) oldText += next.text
    else newText += next.text
  }
  return oldText.length < SHORTEST_BREAK ? [0, 0] : [oldEnd, newEnd]
}

function pairBroken(file: FileLines, olds: Line[], news: Line[]): void {
  let newAt = 0
  let newEnd = news[0]?.text.length ?? 0
  let offset = 0
  for (const old of olds) {
    while (offset >= newEnd && newAt + 1 < news.length) newEnd += news[++newAt]?.text.length ?? 0
    claim(file, old.line, news[newAt]?.line ?? 0, 'edited')
    offset += old.text.length
  }
  for (const { line } of news) file.claimed.add(line)
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
      claim(file, line, target.line, 'edited')
    } else if (target !== undefined || rival >= DOUBTFUL) doubt(file, line)
  }
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

function freeLines(file: FileLines, gap: Gap, wanted: (text: string) => boolean): { olds: Line[]; news: Line[] } {
  const olds = file.oldLines.slice(gap.oldFrom - 1, gap.oldTo - 1).flatMap((text, at) => {
    const line = gap.oldFrom + at
    return file.targets.has(line) || !wanted(text) ? [] : [lineOf(line, text)]
  })
  const news = file.newLines.slice(gap.newFrom - 1, gap.newTo - 1).flatMap((text, at) => {
    const line = gap.newFrom + at
    return file.claimed.has(line) || !wanted(text) ? [] : [lineOf(line, text)]
  })
  return { olds, news }
}

function lineOf(line: number, source: string): Line {
  const text = squeeze(source)
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return { line, text, pairs, size: Math.max(0, text.length - 1) }
}

/** The share of pairs of characters that two lines have in common, from 0 to 1. */
function similarity(a: Line, b: Line): number {
  if (a.text === b.text) return 1
  let common = 0
  for (const [pair, count] of a.pairs) common += Math.min(count, b.pairs.get(pair) ?? 0)
  return (2 * common) / Math.max(1, a.size + b.size)
}
