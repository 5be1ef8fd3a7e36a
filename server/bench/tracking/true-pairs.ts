import { type Fate, fateOf, type FileMap } from './line-fate.ts'
import { inColumnOrder, type ReportedResult } from './reported-result.ts'

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

type Placed = { fate: Exclude<Fate, { is: 'gone' | 'unsure' }>; old: number }

/**
 * The truth about each result of `before`, by the line map of the step. The same finding is the
 * result of the same rule at the mapped line.
 */
export function truePairs(
  files: Record<string, FileMap>,
  before: readonly ReportedResult[],
  after: readonly ReportedResult[],
): Truth[] {
  const fates = before.map((result) => fateOf(files[result.path], { first: result.startLine, last: lastLine(result) }))
  const truths: Truth[] = fates.map(({ is }) => (is === 'unsure' ? UNSURE : GONE))
  const placed = fates.flatMap((fate, old) => (fate.is === 'gone' || fate.is === 'unsure' ? [] : [{ fate, old }]))
  const candidates = Map.groupBy(after.keys(), (index) => placeKey(after[index] as ReportedResult))
  const groups = Map.groupBy(placed, ({ fate, old }) => placeKey({ ...fate, rule: before[old]?.rule ?? '' }))
  for (const [key, group] of groups) pairAtPlace({ before, after, truths }, group, candidates.get(key) ?? [])
  for (const { fate, old } of placed)
    if (truths[old] === GONE && isInEditedLines(fate, before[old], after)) truths[old] = UNSURE
  return truths
}

/** Whether the rule is violated on a line that may be part of the edited line. */
function isInEditedLines(
  fate: Placed['fate'],
  old: ReportedResult | undefined,
  after: readonly ReportedResult[],
): boolean {
  if (fate.is !== 'edited') return false
  const { path, line, until } = fate
  return after.some(
    (result) =>
      result.rule === old?.rule &&
      result.path === path &&
      result.startLine !== null &&
      result.startLine > line &&
      result.startLine < until,
  )
}

type Reports = { before: readonly ReportedResult[]; after: readonly ReportedResult[]; truths: Truth[] }

/**
 * Pairs the findings of one rule on one line: by their order in the line if their number is the
 * same, else those that are equal. The others are unsure while candidates remain.
 */
function pairAtPlace({ before, after, truths }: Reports, group: Placed[], candidates: number[]): void {
  const fateOfOld = new Map(group.map(({ fate, old }) => [old, fate]))
  const olds = inColumnOrder(before, [...fateOfOld.keys()])
  const news = inColumnOrder(after, candidates)
  const isComplete = olds.length === news.length
  const left = new Set(news)
  const unpaired = olds.filter((old, index) => {
    const to = isComplete ? news[index] : [...left].find((candidate) => isEqual(before[old], after[candidate]))
    const fate = fateOfOld.get(old)
    if (to === undefined || fate === undefined) return true
    left.delete(to)
    truths[old] = { is: fate.is, to, isRenamed: fate.is !== 'moved' && fate.path !== before[old]?.path }
    return false
  })
  for (const old of unpaired) truths[old] = left.size > 0 ? UNSURE : GONE
}

/** A region that ends before the first column of a line does not include that line. */
function lastLine({ startLine, endLine, endColumn }: ReportedResult): number | null {
  if (startLine === null || endLine === null) return startLine
  return endColumn === 1 && endLine > startLine ? endLine - 1 : endLine
}

function placeKey(place: { rule: string; path: string; line?: number | null; startLine?: number | null }): string {
  return JSON.stringify([place.rule, place.path, place.line ?? place.startLine ?? null])
}

function isEqual(a: ReportedResult | undefined, b: ReportedResult | undefined): boolean {
  return a?.startColumn === b?.startColumn && a?.endColumn === b?.endColumn && a?.message === b?.message
}
