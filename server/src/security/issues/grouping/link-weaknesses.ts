import { compareTexts } from '../../../platform/text.ts'
import type { KnownRule } from './known-rules.ts'
import { getFile } from './link-scanner.ts'
import { groupBy, type Links, type Match } from './links.ts'
import { FILE, isSameResource, type Resource } from './resources.ts'
import { ScannerGroups } from './scanner-groups.ts'
import {
  collectOverlappingPairs,
  collectPairs,
  computeColumnsBetween,
  computeSpanDifference,
  getSpan,
  type Span,
} from './spans.ts'
import {
  canCompare,
  collectWeaknessKeys,
  listBroaderCwes,
  SHARED,
  selectComparableCwes,
  type WeaknessKey,
} from './weakness-names.ts'

/** A finding and one property by which it is compared with findings of other scanners. */
type Candidate = {
  index: number
  tool: string
  key: WeaknessKey
  rule: KnownRule
  cwes: readonly string[]
  span: Span | null
  resource: Resource | null
  /** The place in an order of the findings that does not depend on when they arrived. */
  order: number
}

/** Two findings of different scanners with one weakness at one place. */
type Pair = { one: Candidate; other: Candidate; difference: number; columns: number }

/**
 * Joins findings of different scanners that report one weakness at one place: the most reliable
 * pairs first, and never two findings of one scanner that the scanner tells apart. So the groups do
 * not depend on the order of the findings.
 */
export function linkByWeakness(links: Links, resources: readonly (Resource | null)[]): void {
  if (new Set(links.members.map(({ tool }) => tool)).size < 2) return
  const pairs = findPairs(collectCandidates(links, resources)).sort(byReliability)
  const groups = new ScannerGroups(links)
  for (const { one, other } of pairs) {
    groups.join(one.index, other.index, one.key.by === 'group' ? one.key.name : null)
  }
  for (const pair of pairs) {
    const indexes = [pair.one.index, pair.other.index] as const
    if (groups.areJoined(...indexes)) links.join(indexes, toMatch(pair, links))
  }
}

function collectCandidates(links: Links, resources: readonly (Resource | null)[]): Candidate[] {
  const orders = computeOrders(links)
  return links.members.flatMap((facts, index) => {
    const rule = links.getRule(index)
    const cwes = selectComparableCwes(facts, rule)
    const span = getSpan(facts, index)
    const tool = facts.tool.toLowerCase()
    const order = orders[index] as number
    const resource = resources[index] ?? null
    return collectWeaknessKeys(rule, cwes).map((key) => ({ index, tool, key, rule, cwes, span, resource, order }))
  })
}

/** Equal findings, which are joined already, have the same number. */
function computeOrders(links: Links): number[] {
  const texts = links.members.map(({ tool, start_line: from, end_line: to, context, fingerprint }, index) =>
    JSON.stringify([links.getRule(index).rule, from, to, context, fingerprint, tool]),
  )
  const ranks = new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]))
  return texts.map((text) => ranks.get(text) as number)
}

/** Further apart at one line, findings are in different statements of a minified file. */
const COLUMNS_BETWEEN_MAX = 100

/** How many neighbors a finding is compared with, so that many at one line take linear time. */
const NEIGHBORS_MAX = 8

function findPairs(candidates: readonly Candidate[]): Pair[] {
  const pairs: Pair[] = []
  for (const sharing of groupBy(candidates, ({ key }) => `${key.by} ${key.name}`).values()) {
    if (new Set(sharing.map(({ tool }) => tool)).size < 2) continue
    sharing.sort((a, b) => (a.span?.from ?? 0) - (b.span?.from ?? 0) || a.order - b.order)
    for (const [one, other] of pairsAtOnePlace(sharing)) {
      if (areOfTwoScanners(one, other) && canCompare(one.key, other.key)) pairs.push(ordered(one, other))
    }
  }
  return pairs
}

/** Two tools may have the same scanner's rules: gosec and golangci-lint, tfsec and Trivy. */
function areOfTwoScanners(one: Candidate, other: Candidate): boolean {
  if (one.tool === other.tool) return false
  return one.rule.scanner !== other.rule.scanner || one.rule.rule === other.rule.rule
}

/** The pairs in one resource, at overlapping lines, or both without lines. */
function* pairsAtOnePlace(candidates: readonly Candidate[]): Generator<[Candidate, Candidate]> {
  const located = candidates.filter(({ span }) => span !== null)
  for (const [one, other] of collectOverlappingPairs(located, NEIGHBORS_MAX)) {
    const isFar = computeColumnsBetween(one.span as Span, other.span as Span) > COLUMNS_BETWEEN_MAX
    if (!isFar && (one.resource === null || other.resource === null)) yield [one, other]
  }
  for (const [one, other] of collectPairs(
    candidates.filter(({ span }) => span === null),
    NEIGHBORS_MAX,
  )) {
    if (one.resource === null || other.resource === null) yield [one, other]
  }
  for (const [name, inResource] of groupBy(candidates, ({ resource }) => resource?.name)) {
    if (name === undefined) continue
    for (const [one, other] of collectPairs(inResource, NEIGHBORS_MAX)) {
      if (isSameResource(one.resource as Resource, other.resource as Resource)) yield [one, other]
    }
  }
}

function ordered(one: Candidate, other: Candidate): Pair {
  const [difference, columns] =
    one.span && other.span
      ? [computeSpanDifference(one.span, other.span), computeColumnsBetween(one.span, other.span)]
      : [0, 0]
  return one.order < other.order ? { one, other, difference, columns } : { one: other, other: one, difference, columns }
}

function byReliability(a: Pair, b: Pair): number {
  return (
    SHARED.indexOf(a.one.key.by) - SHARED.indexOf(b.one.key.by) ||
    a.difference - b.difference ||
    a.columns - b.columns ||
    a.one.order - b.one.order ||
    a.other.order - b.other.order ||
    compareTexts(a.one.key.name, b.one.key.name)
  )
}

function toMatch({ one, other }: Pair, links: Links): Match {
  const isInResource = one.resource !== null && other.resource !== null
  const detail = `${weaknessSentence(one, other)}, ${placeName(one, other, links)}.`
  return {
    code: 'same_location',
    on: isInResource ? 'weakness_and_resource' : 'weakness_and_lines',
    value: one.key.name,
    getDetail: () => detail,
  }
}

function placeName(one: Candidate, other: Candidate, links: Links): string {
  const file = getFile(links.getFacts(one.index))
  if (one.resource !== null && other.resource !== null && one.resource !== FILE) {
    // The name as one of the findings states it.
    const stated = [one, other].flatMap(({ index }) => links.getFacts(index).resource_name ?? [])
    stated.sort((a, b) => a.length - b.length || compareTexts(a, b))
    return `in the resource ${stated[0] ?? one.resource.name}`
  }
  return one.span === null || one.resource === FILE ? `in ${file}` : `at overlapping lines of ${file}`
}

function weaknessSentence(one: Candidate, other: Candidate): string {
  const { by, name, role } = one.key
  const both = `${one.rule.label} and ${other.rule.label}`
  if (by === 'rule') return `${both} are the same rule`
  if (by === 'group') return `${both} are one weakness by the rule map (${name})`
  if (by === 'name') return `${both} are rules with the same name`
  if (by === 'cwe') return `${both} both report ${name}`
  const narrower = role === 'narrower' ? one : other
  const cwe = narrower.cwes.find((each) => listBroaderCwes(each).includes(name))
  return `${both} report ${name} and its more specific form ${cwe}`
}
