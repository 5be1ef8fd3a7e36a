import type { GroupingFacts } from './grouping-facts.ts'

/** The lines of a finding, and its number among the findings that are grouped. */
export type Span = { index: number; from: number; to: number; columns: Columns | null }
/** The columns of a finding at a single line. */
type Columns = { from: number; to: number }

/** The lines of a finding; null without lines. */
export function getSpan(facts: SpanFacts, index: number): Span | null {
  const { start_line: from, end_line: to, start_column: left, end_column: right } = facts
  if (from === null) return null
  const isOneLine = (to ?? from) <= from
  const columns = isOneLine && left !== null ? { from: left, to: Math.max(left, right ?? left) } : null
  return { index, from, to: Math.max(from, to ?? from), columns }
}
type SpanFacts = Pick<GroupingFacts, 'start_line' | 'end_line' | 'start_column' | 'end_column'>

/** How many columns are between two spans at one line; 0 if they overlap or state no columns. */
export function computeColumnsBetween(one: Span, other: Span): number {
  if (one.columns === null || other.columns === null) return 0
  return Math.max(0, one.columns.from - other.columns.to, other.columns.from - one.columns.to)
}

const COLUMNS_MAX = 2 ** 20

/** The same span in columns, counted over all lines. Without columns, it covers its lines. */
export function toColumns({ index, from, to, columns }: Span): Span {
  const left = Math.min(columns?.from ?? 0, COLUMNS_MAX - 1)
  const right = Math.min(columns?.to ?? COLUMNS_MAX - 1, COLUMNS_MAX - 1)
  return { index, from: from * COLUMNS_MAX + left, to: to * COLUMNS_MAX + right, columns: null }
}

/** Runs of findings in which each overlaps one before it. */
export function collectOverlappingRuns(spans: readonly Span[]): number[][] {
  const runs: number[][] = []
  let end = -1
  for (const { index, from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from > end) runs.push([index])
    else runs.at(-1)?.push(index)
    end = Math.max(end, to)
  }
  return runs
}

/**
 * The pairs of items whose lines overlap. Each item is compared with at most `limit` items before
 * it, so that many items at one line take linear time. The items must be sorted by their first
 * line.
 */
export function* collectOverlappingPairs<Item extends { span: Span | null }>(
  items: readonly Item[],
  limit: number,
): Generator<[Item, Item]> {
  const open: Item[] = []
  for (const item of items) {
    const near: Item[] = []
    while (near.length < limit) {
      const last = open.pop()
      if (last === undefined) break
      if (isOverlapping(last, item)) near.push(last)
    }
    for (const other of near) yield [other, item]
    open.push(...near.reverse(), item)
  }
}

/** Whether the lines of an item overlap those of an item that does not begin before it. */
function isOverlapping(one: { span: Span | null }, other: { span: Span | null }): boolean {
  return one.span !== null && other.span !== null && one.span.to >= other.span.from
}

/** The pairs of items of which at most `limit` - 1 are between. */
export function* collectPairs<Item>(items: readonly Item[], limit: number): Generator<[Item, Item]> {
  for (const [index, item] of items.entries()) {
    for (const other of items.slice(Math.max(0, index - limit), index)) yield [other, item]
  }
}

/** How far apart two spans begin and end. */
export function computeSpanDifference(one: Span, other: Span): number {
  return Math.abs(one.from - other.from) + Math.abs(one.to - other.to)
}
