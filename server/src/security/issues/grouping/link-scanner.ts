import { compareTexts } from '../../../platform/text.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkAlertsByLines } from './link-alerts.ts'
import { getTell, groupBy, type Links, type Match, splitByName } from './links.ts'
import { FILE, type Resource } from './resources.ts'
import { collectOverlappingRuns, getSpan } from './spans.ts'

/**
 * Joins findings of one scanner that report one thing more than once: for several branches or
 * categories, or by rules that are equivalent. Findings that one report tells apart never belong to
 * one issue by their rule (decisions §8). What is compared is sorted, so that the order of arrival
 * does not count.
 */
export function linkByScanner(links: Links, resources: readonly (Resource | null)[]): void {
  const byScanner = groupBy(links.members.keys(), (index) => links.getRule(index).scanner)
  for (const ofScanner of byScanner.values()) {
    if (ofScanner.length < 2) continue
    for (const ofFile of groupBy(ofScanner, (index) => links.getFacts(index).path).values()) {
      linkEqualRules(links, ofFile, resources)
      linkEquivalentRules(links, ofFile)
    }
  }
}

/**
 * Joins findings of one scanner that have the same fingerprint, which may be that of equal
 * statements of a file: those that one report lists at several lines stay apart.
 */
export function linkByFingerprint(links: Links): void {
  for (const [fingerprint, indexes] of groupBy(links.members.keys(), (index) => links.getFacts(index).fingerprint)) {
    if (fingerprint === null || indexes.length < 2) continue
    for (const ofScanner of groupBy(sorted(links, indexes), (index) => links.getRule(index).scanner).values()) {
      for (const same of sameStatements(links, ofScanner)) joinByResource(links, same, SAME_FINGERPRINT)
    }
  }
}

const SAME_FINGERPRINT: Match = {
  code: 'same_fingerprint',
  on: 'fingerprint',
  value: null,
  getDetail: (facts) => `${facts.rule_id ?? 'The same finding'} for the same code of ${getFile(facts)}.`,
}

function sorted(links: Links, indexes: readonly number[]): number[] {
  const tells = new Map(
    indexes.map((index) => [index, `${getTell(links.getFacts(index))} ${links.getRule(index).rule}`]),
  )
  return indexes.toSorted((a, b) => compareTexts(tells.get(a) as string, tells.get(b) as string))
}

/**
 * Separates equal statements: by their order if every report lists as many of them, else by their
 * lines and the marks that tell them apart there.
 */
function sameStatements(links: Links, indexes: readonly number[]): number[][] {
  const ranksByStream = [...groupBy(indexes, (index) => links.getFacts(index).stream_id).values()].map((ofStream) => ({
    ofStream,
    ranks: numbered(ofStream.map((index) => getTell(links.getFacts(index)))),
  }))
  const count = ranksByStream[0]?.ranks.size
  if (ranksByStream.every(({ ranks }) => ranks.size === count)) {
    const ranked = ranksByStream.flatMap(({ ofStream, ranks }) =>
      ofStream.map((index) => ({ index, rank: ranks.get(getTell(links.getFacts(index))) })),
    )
    return [...groupBy(ranked, ({ rank }) => rank).values()].map((same) => same.map(({ index }) => index))
  }
  const atLines = groupBy(indexes, (index) => `${links.getFacts(index).path}\n${links.getFacts(index).start_line}`)
  return [...atLines.values()].flatMap((atLine) => links.splitTold(atLine))
}

/** The rank of each text among all different ones. */
function numbered(texts: readonly string[]): Map<string, number> {
  return new Map([...new Set(texts)].sort().map((text, rank) => [text, rank]))
}

function linkEqualRules(links: Links, indexes: number[], resources: readonly (Resource | null)[]): void {
  const byRule = [...groupBy(indexes, (index) => links.getRule(index).rule)].filter(([, same]) => same.length > 1)
  for (const [, unsorted] of byRule.sort(([one], [other]) => compareTexts(one, other))) {
    const contexts = new Set(unsorted.map((index) => links.getFacts(index).context))
    const areOther = contexts.size === unsorted.length && !contexts.has(null)
    // Most findings of a rule are of other texts, which none of these rules joins.
    if (areOther && unsorted.every((index) => !links.getFacts(index).is_alert && resources[index] == null)) continue
    const same = sorted(links, unsorted)
    linkByCode(links, same)
    linkAlertsByLines(links, same)
    linkByLines(links, same)
    linkByResource(links, same, resources)
  }
}

/** The same text on other lines is another finding. */
function linkByCode(links: Links, indexes: number[]): void {
  for (const [context, same] of groupBy(indexes, (index) => links.getFacts(index).context)) {
    if (context === null || same.length < 2) continue
    for (const run of collectOverlappingRuns(same.flatMap((index) => getSpan(links.getFacts(index), index) ?? []))) {
      joinByResource(links, run, {
        code: 'same_fingerprint',
        on: 'weakness_and_code',
        value: links.getRule(run[0] as number).rule,
        getDetail: (facts) => `${facts.rule_id} for the same code at one place in ${getFile(facts)}.`,
      })
    }
  }
}

/**
 * Without the flagged text, findings of one rule at exactly the same lines and columns with the
 * same message are one. The code host tells its alerts apart.
 */
function linkByLines(links: Links, indexes: number[]): void {
  const untold = indexes.filter((index) => links.getFacts(index).context === null && !links.getFacts(index).is_alert)
  const getLines = ({ start_line: from, end_line: to, start_column, end_column, told }: GroupingFacts) =>
    from === null ? null : `${from} ${to ?? from} ${start_column} ${end_column} ${told}`
  for (const [lines, same] of groupBy(untold, (index) => getLines(links.getFacts(index)))) {
    if (lines === null) continue
    for (const equal of splitByName(same, (index) => links.getFacts(index).fingerprint))
      joinByResource(links, equal, {
        code: 'same_location',
        on: 'weakness_and_lines',
        value: links.getRule(same[0] as number).rule,
        getDetail: (facts) => `${facts.rule_id} at the same lines of ${getFile(facts)}.`,
      })
  }
}

function linkByResource(links: Links, indexes: number[], resources: readonly (Resource | null)[]): void {
  for (const [name, same] of groupBy(indexes, (index) => resources[index]?.name ?? null)) {
    if (name === null || same.length < 2) continue
    for (const ofType of splitByName(same, (index) => resources[index]?.type ?? null)) {
      linkToldParts(links, ofType, {
        code: 'same_location',
        on: 'weakness_and_resource',
        value: links.getRule(ofType[0] as number).rule,
        getDetail: (facts) => `${facts.rule_id} in ${placeIn(facts, name)}.`,
      })
    }
  }
}

function placeIn(facts: GroupingFacts, name: string): string {
  return name === FILE.name ? getFile(facts) : `the resource ${facts.resource_name ?? name}`
}

/** Joins findings at overlapping lines whose rules are in one group of the rule map. */
function linkEquivalentRules(links: Links, indexes: number[]): void {
  const grouped = indexes.flatMap((index) => links.getRule(index).groups.map((group) => ({ index, group })))
  for (const [group, findings] of groupBy(grouped, (finding) => finding.group)) {
    const rules = new Set(findings.map(({ index }) => links.getRule(index).rule))
    if (rules.size < 2) continue
    const inOrder = sorted(
      links,
      findings.map(({ index }) => index),
    )
    const spans = inOrder.flatMap((index) => getSpan(links.getFacts(index), index) ?? [])
    for (const run of collectOverlappingRuns(spans)) {
      if (new Set(run.map((index) => links.getRule(index).rule)).size < 2) continue
      joinByResource(links, run, {
        code: 'same_location',
        on: 'weakness_and_lines',
        value: group,
        getDetail: (facts) => `${facts.rule_id} is an equivalent rule at overlapping lines of ${getFile(facts)}.`,
      })
    }
  }
}

/** A file may declare several resources with the same weakness. */
function joinByResource(links: Links, indexes: number[], match: Match): void {
  for (const same of splitByName(indexes, (index) => links.getFacts(index).resource_name))
    linkToldParts(links, same, match)
}

export function linkToldParts(links: Links, indexes: readonly number[], match: Match): void {
  for (const part of links.splitTold(indexes)) links.joinByRule(part, match)
}

export function getFile({ path, resource_name }: GroupingFacts): string {
  return path ?? resource_name ?? 'the repository'
}
