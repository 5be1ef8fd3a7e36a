import type { GroupingFacts, GroupingReason } from './grouping-facts.ts'
import { apartBy, type Detail, groupBy, type Links, type Match } from './links.ts'
import { weaknessesOf } from './rule-family.ts'

/** What one scanner says of one finding twice, of two branches or in two categories, is one issue. */
export function linkByFingerprint(links: Links): void {
  for (const [fingerprint, numbers] of groupBy(links.members.keys(), (at) => links.factsOf(at).fingerprint)) {
    if (fingerprint === null) continue
    joinOfOneResource(
      links,
      numbers,
      'same_fingerprint',
      { on: 'fingerprint', value: null },
      (facts) => `${facts.rule_id ?? 'The same'} at the same code of ${place(facts)}.`,
    )
  }
}

/** Findings of one weakness in one file are one issue where the flagged text is the same, or where their lines overlap. */
export function linkByWeakness(links: Links): void {
  const flagged = [...links.members.keys()].flatMap((at) =>
    weaknessesOf(links.factsOf(at)).map((weakness) => ({ at, weakness })),
  )
  for (const [weakness, findings] of groupBy(flagged, (finding) => finding.weakness)) {
    const numbers = findings.map(({ at }) => at)
    if (numbers.length < 2) continue
    linkByContext(links, numbers, weakness)
    linkByLines(links, numbers, weakness)
    linkByResource(links, numbers, weakness)
  }
}

/** Every member of the bucket holds the same secret. */
export function linkBySecret(links: Links): void {
  links.join(
    [...links.members.keys()],
    'same_secret',
    { on: 'secret', value: null },
    ({ path }) => `The same secret${path === null ? '' : `, in ${path}`}.`,
  )
}

function linkByContext(links: Links, numbers: number[], weakness: string): void {
  for (const [context, same] of groupBy(numbers, (at) => links.factsOf(at).context)) {
    if (context === null) continue
    const match = { on: 'weakness_and_code', value: weakness } as const
    joinOfOneResource(
      links,
      same,
      'same_fingerprint',
      match,
      (facts) => `${weakness} for the same code of ${place(facts)}.`,
    )
  }
}

function linkByLines(links: Links, numbers: number[], weakness: string): void {
  for (const overlapping of overlaps(links, numbers)) {
    const match = { on: 'weakness_and_lines', value: weakness } as const
    joinOfOneResource(
      links,
      overlapping,
      'same_location',
      match,
      (facts) => `${weakness} at overlapping lines of ${place(facts)}.`,
    )
  }
}

function linkByResource(links: Links, numbers: number[], weakness: string): void {
  for (const [resource, same] of groupBy(numbers, (at) => links.factsOf(at).resource_name)) {
    if (resource === null) continue
    const match = { on: 'weakness_and_resource', value: weakness } as const
    links.join(same, 'same_location', match, () => `${weakness} of the resource ${resource}.`)
  }
}

/** One file may have several cloud resources with the same mistake. */
function joinOfOneResource(links: Links, numbers: number[], ...reason: Reason): void {
  for (const same of apartBy(numbers, (at) => links.factsOf(at).resource_name)) links.join(same, ...reason)
}

type Reason = [code: GroupingReason['code'], match: Match, detailOf: Detail]

/** Runs of findings each of which overlaps one before it, by lines. Those without lines are in none. */
function overlaps(links: Links, numbers: number[]): number[][] {
  const runs: number[][] = []
  let end = -1
  for (const { at, from, to } of spans(links, numbers)) {
    if (from > end) runs.push([at])
    else runs.at(-1)?.push(at)
    end = Math.max(end, to)
  }
  return runs
}

function spans(links: Links, numbers: number[]) {
  return numbers
    .flatMap((at) => {
      const { start_line: from, end_line: to } = links.factsOf(at)
      return from === null ? [] : [{ at, from, to: to ?? from }]
    })
    .sort((a, b) => a.from - b.from)
}

function place({ path, resource_name }: GroupingFacts): string {
  return path ?? resource_name ?? 'the repository'
}
