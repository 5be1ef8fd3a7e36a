import { fateOf, gapOf, type NewPlace } from './line-fate.ts'
import type { FileMap } from './line-map.ts'
import { inPlaceOrder, type ReportedResult } from './reported-result.ts'

/** The truth about one finding of the earlier report. */
export type Truth = {
  /** `gone`: it should be recognized nowhere. `unsure`: it is left out of all counts. */
  is: 'kept' | 'edited' | 'moved' | 'gone' | 'unsure'
  /** Its index in the later report; null if `gone` or `unsure`. */
  to: number | null
  isRenamed: boolean
}

const GONE: Truth = { is: 'gone', to: null, isRenamed: false }
const UNSURE: Truth = { is: 'unsure', to: null, isRenamed: false }

type Results = readonly ReportedResult[]

/**
 * The truth about each result of `before`, by the line map of the step. The same finding is the
 * result of the same rule at the mapped line.
 */
export function truePairs(files: Record<string, FileMap>, before: Results, after: Results): Truth[] {
  const fates = before.map((result) => fateOf(files[result.path], { first: result.startLine, last: lastLine(result) }))
  const truths: Truth[] = fates.map(({ is }) => (is === 'unsure' ? UNSURE : GONE))
  const placed = new Map([...fates.entries()].flatMap(([old, fate]) => ('path' in fate ? [[old, fate]] : [])))
  const inFile = Map.groupBy(after.keys(), (index) => fileKey(after[index]?.rule, after[index]?.path))
  const groups = Map.groupBy(placed, ([old, { path, line }]) => `${line} ${fileKey(before[old]?.rule, path)}`)
  for (const group of groups.values()) {
    const [old, place] = group[0] as [number, NewPlace]
    const candidates = inFile.get(fileKey(before[old]?.rule, place.path)) ?? []
    const there = candidates.filter((index) => isAt(place, after[index]?.startLine ?? null))
    pairAtPlace({ before, after, truths }, new Map(group), there)
  }
  const claimed = new Set(truths.map(({ to }) => to))
  const unclaimed = after.filter((_, index) => !claimed.has(index))
  for (const [old, fate] of fates.entries())
    if (fate.is === 'gone' && isReplaced(files, before[old], unclaimed)) truths[old] = UNSURE
  return truths
}

/**
 * Whether new text stands where the finding was, and a new result of its rule is in it. Whether
 * this is the same finding, edited, is a matter of opinion.
 */
function isReplaced(files: Record<string, FileMap>, old: ReportedResult | undefined, unclaimed: Results): boolean {
  const map = files[old?.path ?? '']
  const gap = map === undefined || old?.startLine == null ? null : gapOf(map, old.startLine)
  if (gap === null) return false
  return unclaimed.some(({ rule, path, startLine }) => {
    const isThere = startLine !== null && startLine > gap.after && startLine < gap.before
    return isThere && rule === old?.rule && path === gap.path
  })
}

type Reports = { before: Results; after: Results; truths: Truth[] }

/**
 * Pairs the findings of one rule on one line: by their order in the line if their number is the
 * same, else those that are equal. The others are unsure while candidates remain.
 */
function pairAtPlace(
  { before, after, truths }: Reports,
  places: ReadonlyMap<number, NewPlace>,
  candidates: number[],
): void {
  const olds = inPlaceOrder(before, [...places.keys()])
  const news = inPlaceOrder(after, candidates)
  const isComplete = olds.length === news.length
  const left = new Set(news)
  const unpaired = olds.filter((old, index) => {
    const to = isComplete ? news[index] : [...left].find((candidate) => isEqual(before[old], after[candidate]))
    const place = places.get(old)
    if (to === undefined || place === undefined) return true
    left.delete(to)
    truths[old] = { is: place.is, to, isRenamed: place.is !== 'moved' && place.path !== before[old]?.path }
    return false
  })
  for (const old of unpaired) truths[old] = left.size > 0 ? UNSURE : GONE
}

function isAt({ line, until }: NewPlace, startLine: number | null): boolean {
  return line === null || startLine === null ? line === startLine : startLine >= line && startLine < until
}

/** A region that ends before the first column of a line does not include that line. */
function lastLine({ startLine, endLine, endColumn }: ReportedResult): number | null {
  if (startLine === null || endLine === null) return startLine
  return endColumn === 1 && endLine > startLine ? endLine - 1 : endLine
}

function fileKey(rule: string | undefined, path: string | undefined): string {
  return JSON.stringify([rule, path])
}

function isEqual(a: ReportedResult | undefined, b: ReportedResult | undefined): boolean {
  return a?.startColumn === b?.startColumn && a?.endColumn === b?.endColumn && a?.message === b?.message
}
