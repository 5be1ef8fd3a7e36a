import { compareTexts } from '../../../platform/text.ts'
import { isAboutPackage } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { KnownRules } from './known-rules.ts'
import { linkByFingerprint, linkByScanner, linkToldParts } from './link-scanner.ts'
import { linkByWeakness } from './link-weaknesses.ts'
import { getTell, groupBy, Links, splitByName } from './links.ts'
import { computeResources } from './resources.ts'
import { type CanonicalId, getEcosystem, selectVulnerabilityNames } from './shared-names.ts'
import {
  collectOverlappingPairs,
  collectOverlappingRuns,
  computeColumnsBetween,
  computeSpanDifference,
  getSpan,
  type Span,
  toColumns,
} from './spans.ts'
import { isSecret } from './weakness-names.ts'

/** The names under which vulnerabilities and rules are compared. */
export type Names = { canonicalId: CanonicalId; rules: KnownRules }

/** Determines which findings of one bucket belong to one issue. */
export function linkBucket(members: readonly GroupingFacts[], names: Names): Links {
  const links = new Links(members, names.rules)
  applyRules(links, names.canonicalId)
  return links
}

/**
 * Applies all rules in order. The first rule that matches is a finding's reason. The result does
 * not depend on the order of the findings.
 */
export function applyRules(links: Links, canonicalId: CanonicalId): void {
  if (links.members.length < 2) return
  const first = links.getFacts(0)
  // Code that has a vulnerability may have it in several places.
  if (isAboutPackage(first.kind)) linkByVulnerability(links, canonicalId)
  linkByFingerprint(links)
  if (isAboutPackage(first.kind)) linkByRule(links)
  else if (isSecret(first, links.getRule(0))) {
    // The same secret, and secrets at overlapping lines.
    linkByText(links)
    linkByLines(links)
  } else {
    const resources = computeResources(links)
    linkByScanner(links, resources)
    linkByWeakness(links, resources)
  }
}

/** Joins findings of one package that name the same vulnerability, also by aliases. */
function linkByVulnerability(links: Links, canonicalId: CanonicalId): void {
  const named = [...links.members.keys()].flatMap((index) =>
    selectVulnerabilityNames(links.getFacts(index).vuln_ids, canonicalId).map((name) => ({ index, name })),
  )
  for (const [name, findings] of groupBy(named, (finding) => finding.name)) {
    const indexes = findings.map(({ index }) => index)
    for (const same of byEcosystem(links, indexes)) {
      const getDetail = (facts: GroupingFacts) => vulnerabilityDetail(facts, name)
      links.join(same, { code: 'same_vulnerability', on: 'vulnerability', value: name, getDetail })
    }
  }
}

/**
 * Joins findings of one package that name no vulnerability by their rule, such as a license or a
 * vendor's number.
 */
function linkByRule(links: Links): void {
  const unnamed = [...links.members.keys()].filter((index) => links.getFacts(index).vuln_ids.length === 0)
  // Without the name of the package, only the message says which one it is.
  const getSubject = ({ package_name: name, told }: GroupingFacts) => (name === null ? told : null)
  for (const indexes of groupBy(unnamed, (index) => {
    const facts = links.getFacts(index)
    return `${facts.rule_id}\n${getSubject(facts)}`
  }).values()) {
    const rule = links.getFacts(indexes[0] as number).rule_id
    if (rule === null) continue
    for (const same of byEcosystem(links, indexes)) {
      const getDetail = (facts: GroupingFacts) => `${rule} ${subject(facts)}.`
      linkToldParts(links, same, { code: 'same_fingerprint', on: 'rule', value: rule, getDetail })
    }
  }
}

/** Packages of different ecosystems may have the same name. */
function byEcosystem(links: Links, indexes: number[]): number[][] {
  return splitByName(indexes, (index) => getEcosystem(links.getFacts(index)))
}

function vulnerabilityDetail(facts: GroupingFacts, canonicalId: string): string {
  const reported = facts.vuln_ids.includes(canonicalId) ? '' : `, reported as ${facts.vuln_ids[0]}`
  return `${canonicalId} ${subject(facts)}${reported}.`
}

function subject({ package_name: name, path }: GroupingFacts): string {
  return name === null ? `in ${path ?? 'the repository'}` : `in the package ${name}`
}

/** What a rule for code flags is a statement, which may be the same for different secrets. */
function linkByText(links: Links): void {
  const told = [...links.members.keys()].filter((index) => links.getFacts(index).kind === 'secret')
  for (const [context, same] of groupBy(told, (index) => links.getFacts(index).context)) {
    if (context === null) continue
    links.join(same, {
      code: 'same_secret',
      on: 'secret',
      value: null,
      getDetail: ({ path }) => `The same secret${path === null ? '' : `, in ${path}`}.`,
    })
  }
}

function linkByLines(links: Links): void {
  for (const [path, inFile] of groupBy(links.members.keys(), (index) => links.getFacts(index).path)) {
    if (path === null || inFile.length < 2) continue
    const spans = inFile.flatMap((index) => getSpan(links.getFacts(index), index) ?? [])
    const placed = spansInColumns(links, spans)
    const getDetail = () => `Secrets at overlapping lines of ${path}.`
    const match = { code: 'same_secret', on: 'secret_and_lines', value: null, getDetail } as const
    for (const run of collectOverlappingRuns(placed)) {
      if (links.splitTold(run).length === 1) links.joinByRule(run, match)
      else for (const pair of listNearest(links, placed, new Set(run))) links.joinByRule(pair, match)
    }
  }
}

/** How many neighbors a secret is compared with, so that many at one line take linear time. */
const NEIGHBORS_MAX = 8

/** The overlapping pairs of a run, those with the most similar places first. */
function listNearest(links: Links, spans: readonly Span[], run: ReadonlySet<number>): [number, number][] {
  const items = spans
    .filter(({ index }) => run.has(index))
    .map((span) => {
      const facts = links.getFacts(span.index)
      return { span, order: `${getTell(facts)} ${facts.tool} ${facts.rule_id}` }
    })
    .sort((a, b) => a.span.from - b.span.from || compareTexts(a.order, b.order))
  return [...collectOverlappingPairs(items, NEIGHBORS_MAX)]
    .map(([one, other]) => ({ one, other, difference: computeSpanDifference(one.span, other.span) }))
    .sort(
      (a, b) =>
        a.difference - b.difference ||
        compareTexts(a.one.order, b.one.order) ||
        compareTexts(a.other.order, b.other.order),
    )
    .map(({ one, other }) => [one.span.index, other.span.index])
}

/**
 * The columns count only at lines where a report tells several secrets apart: scanners flag
 * different parts of a statement, such as the name or the value of a password.
 */
function spansInColumns(links: Links, spans: readonly Span[]): Span[] {
  const crowded = new Set<number>()
  for (const ofStream of groupBy(spans, ({ index }) => links.getFacts(index).stream_id).values()) {
    for (const [line, atLine] of groupBy(ofStream, ({ from }) => from)) {
      if (areApart(atLine)) crowded.add(line)
    }
  }
  return spans.map((span) => toColumns(crowded.has(span.from) ? span : { ...span, columns: null }))
}

/** Whether any two of the spans at a line do not overlap. */
function areApart(spans: readonly Span[]): boolean {
  const sorted = spans.filter(({ columns }) => columns !== null).sort((a, b) => getStart(a) - getStart(b))
  return sorted.some((span, index) => index > 0 && computeColumnsBetween(sorted[index - 1] as Span, span) > 0)
}

function getStart({ columns }: Span): number {
  return columns?.from ?? 0
}
