import type { GroupingFacts } from './grouping-facts.ts'
import { apartBy, groupBy, type Links, type Match } from './links.ts'
import { weaknessesOf } from './shared-names.ts'

/**
 * Joins findings that one scanner reports more than once, for several branches or in several
 * categories.
 */
export function linkByFingerprint(links: Links): void {
  for (const [fingerprint, indexes] of groupBy(links.members.keys(), (index) => links.factsOf(index).fingerprint)) {
    if (fingerprint === null) continue
    joinByResource(links, indexes, {
      code: 'same_fingerprint',
      on: 'fingerprint',
      value: null,
      detailOf: (facts) => `${facts.rule_id ?? 'The same finding'} for the same code of ${fileOf(facts)}.`,
    })
  }
}

/**
 * Joins findings of a file that share a weakness, by the flagged text, overlapping lines or the
 * resource.
 */
export function linkByWeakness(links: Links): void {
  const flagged = [...links.members.keys()].flatMap((index) =>
    weaknessesOf(links.factsOf(index)).map((weakness) => ({ index, weakness })),
  )
  for (const [weakness, findings] of groupBy(flagged, (finding) => finding.weakness)) {
    const indexes = findings.map(({ index }) => index)
    if (indexes.length < 2) continue
    linkByContext(links, indexes, weakness)
    linkByLines(links, indexes, weakness)
    linkByResource(links, indexes, weakness)
  }
}

/** Joins all findings of a bucket whose members contain the same secret. */
export function linkBySecret(links: Links): void {
  links.join([...links.members.keys()], {
    code: 'same_secret',
    on: 'secret',
    value: null,
    detailOf: ({ path }) => `The same secret${path === null ? '' : `, in ${path}`}.`,
  })
}

function linkByContext(links: Links, indexes: number[], weakness: string): void {
  for (const [context, same] of groupBy(indexes, (index) => links.factsOf(index).context)) {
    if (context === null) continue
    joinByResource(links, same, {
      code: 'same_fingerprint',
      on: 'weakness_and_code',
      value: weakness,
      detailOf: (facts) => `${weakness} for the same code of ${fileOf(facts)}.`,
    })
  }
}

function linkByLines(links: Links, indexes: number[], weakness: string): void {
  for (const overlapping of overlaps(links, indexes)) {
    joinByResource(links, overlapping, {
      code: 'same_location',
      on: 'weakness_and_lines',
      value: weakness,
      detailOf: (facts) => `${weakness} at overlapping lines of ${fileOf(facts)}.`,
    })
  }
}

function linkByResource(links: Links, indexes: number[], weakness: string): void {
  for (const [resource, same] of groupBy(indexes, (index) => links.factsOf(index).resource_name)) {
    if (resource === null) continue
    const detailOf = () => `${weakness} in the resource ${resource}.`
    links.join(same, { code: 'same_location', on: 'weakness_and_resource', value: weakness, detailOf })
  }
}

/** A file may declare several cloud resources with the same weakness. */
function joinByResource(links: Links, indexes: number[], match: Match): void {
  for (const same of apartBy(indexes, (index) => links.factsOf(index).resource_name)) links.join(same, match)
}

/** Runs of findings in which each overlaps one before it. Findings without lines are left out. */
function overlaps(links: Links, indexes: number[]): number[][] {
  const runs: number[][] = []
  let end = -1
  for (const { index, from, to } of spans(links, indexes)) {
    if (from > end) runs.push([index])
    else runs.at(-1)?.push(index)
    end = Math.max(end, to)
  }
  return runs
}

function spans(links: Links, indexes: number[]) {
  return indexes
    .flatMap((index) => {
      const { start_line: from, end_line: to } = links.factsOf(index)
      return from === null ? [] : [{ index, from, to: to ?? from }]
    })
    .sort((a, b) => a.from - b.from)
}

function fileOf({ path, resource_name }: GroupingFacts): string {
  return path ?? resource_name ?? 'the repository'
}
