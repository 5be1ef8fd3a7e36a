import { compareTexts } from '../../../platform/text.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { groupBy, type Links } from './links.ts'
import { collectOverlappingPairs, computeColumnsBetween, computeSpanDifference, getSpan, type Span } from './spans.ts'

type Place = { index: number; span: Span; order: string }
type Pair = { alert: Place; reported: Place }

/** How many neighbors a finding is compared with, so that many at one line take linear time. */
const NEIGHBORS_MAX = 8

/**
 * Joins alerts of a code host with the reported findings of the same scanner and rule in one file:
 * the host states no code and no fingerprint, so overlapping lines and columns decide. The most
 * similar places are joined first. A host and a report each list a problem once, so findings that
 * one of them tells apart are never joined.
 */
export function linkAlertsByLines(links: Links, sameRule: readonly number[]): void {
  const places = sameRule.flatMap((index) => getPlace(links.getFacts(index), index) ?? [])
  if (!places.some(({ index }) => links.getFacts(index).is_alert)) return
  const streams = streamsByRoot(links, places)
  for (const { alert, reported } of overlapping(links, places).sort(bySimilarity)) {
    const [one, other] = [links.getRoot(alert.index), links.getRoot(reported.index)]
    const [ofOne, ofOther] = [streams.get(one) as Set<number>, streams.get(other) as Set<number>]
    if (one === other || !ofOne.isDisjointFrom(ofOther)) continue
    links.join([alert.index, reported.index], {
      code: 'same_location',
      on: 'weakness_and_lines',
      value: links.getRule(alert.index).rule,
      getDetail: (facts) =>
        `${facts.rule_id ?? 'The same rule'} in an alert of the code host and in a report, at overlapping lines of ${facts.path}.`,
    })
    streams.set(links.getRoot(alert.index), ofOne.union(ofOther))
  }
}

/** The streams of the findings that are joined already, by their root. */
function streamsByRoot(links: Links, places: readonly Place[]): Map<number, Set<number>> {
  const byRoot = groupBy(places, ({ index }) => links.getRoot(index))
  return new Map(
    [...byRoot].map(([root, of]) => [root, new Set(of.map(({ index }) => links.getFacts(index).stream_id))]),
  )
}

/** Sorts by place, then by what tells findings at one place apart, so that arrival never counts. */
function getPlace(facts: GroupingFacts, index: number): Place | null {
  const span = getSpan(facts, index)
  const { end_line, start_column, end_column, fingerprint, context, stream_id } = facts
  const order = JSON.stringify([end_line, start_column, end_column, fingerprint, context, stream_id])
  return span === null ? null : { index, span, order }
}

function overlapping(links: Links, places: Place[]): Pair[] {
  const pairs: Pair[] = []
  places.sort((a, b) => a.span.from - b.span.from || compareTexts(a.order, b.order))
  for (const [one, other] of collectOverlappingPairs(places, NEIGHBORS_MAX)) {
    const [alert, reported] = links.getFacts(one.index).is_alert ? [one, other] : [other, one]
    const isPair = links.getFacts(alert.index).is_alert && !links.getFacts(reported.index).is_alert
    if (isPair && computeColumnsBetween(alert.span, reported.span) === 0) pairs.push({ alert, reported })
  }
  return pairs
}

function bySimilarity(a: Pair, b: Pair): number {
  return (
    computeSpanDifference(a.alert.span, a.reported.span) - computeSpanDifference(b.alert.span, b.reported.span) ||
    columnDifference(a) - columnDifference(b) ||
    compareTexts(a.alert.order, b.alert.order) ||
    compareTexts(a.reported.order, b.reported.order)
  )
}

/** How far apart the columns begin and end; 0 if one of the two states none. */
function columnDifference({ alert, reported }: Pair): number {
  const [one, other] = [alert.span.columns, reported.span.columns]
  return one === null || other === null ? 0 : Math.abs(one.from - other.from) + Math.abs(one.to - other.to)
}
