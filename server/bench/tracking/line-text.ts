import { type FileLines, type Gap, squeeze } from './file-lines.ts'

/** Statements that begin with other words are less similar. */
const OTHER_FIRST_WORD = 0.85
/** Two values of one key are similar, whatever the values. */
const SAME_KEY = 0.65
const KEY = /^[\s-]*["']?([\w./-]+)["']?\s*(?::|=(?!=))\s*\S/

/** A line without what formatters change, and its pairs of characters with their counts. */
export type Line = {
  line: number
  text: string
  firstWord: string
  key: string | null
  pairs: Map<string, number>
  size: number
}

/** Lines of both sides of a gap of which nothing is known yet. */
export function freeLines(
  file: FileLines,
  gap: Gap,
  wanted: (text: string) => boolean,
): { olds: Line[]; news: Line[] } {
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
  const firstWord = /\w+/.exec(source)?.[0] ?? ''
  return { line, text, firstWord, key: KEY.exec(source)?.[1] ?? null, pairs, size: Math.max(0, text.length - 1) }
}

/** The share of pairs of characters that two lines have in common, from 0 to 1. */
export function similarity(a: Line, b: Line): number {
  if (a.text === b.text) return 1
  let common = 0
  for (const [pair, count] of a.pairs) common += Math.min(count, b.pairs.get(pair) ?? 0)
  const share = (2 * common) / Math.max(1, a.size + b.size)
  if (a.key !== null && a.key === b.key) return SAME_KEY + share * (1 - SAME_KEY)
  return a.firstWord === b.firstWord ? share : share * OTHER_FIRST_WORD
}

/** Formatters add and remove brackets around what they break into several lines. */
export function withoutBrackets(text: string): string {
  return text.replace(/[()]/g, '')
}
