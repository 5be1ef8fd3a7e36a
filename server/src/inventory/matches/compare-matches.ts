import { compareTexts } from '../../platform/text.ts'
import { parsePackageUrl } from '../../security/vocabulary/package-url.ts'
import { type FoundMatch, formatPlace } from './match-components.ts'
import type { PresentComponent } from './match-scope.store.ts'

/** Why a finding of the inventory ended. Only the first two are fixes. */
export const MATCH_ENDS = [
  'component_removed',
  'version_changed',
  'advisory_corrected',
  'advisory_withdrawn',
  'stream_ended',
  'merged',
  'matching_off',
] as const
export type MatchEnd = (typeof MATCH_ENDS)[number]

/** A stored finding of a match, as far as it takes to recognize it. */
export type StoredMatch = {
  finding_id: string
  component_no: number
  package_key: string
  purl: string
  path: string | null
  canonical_id: string
  vuln_ids: string[]
  ended_as: MatchEnd | null
  first_seen_at: Date
}

/** `into` is the finding that a merged one goes on in. */
export type EndedMatch<Stored> = { stored: Stored; as: MatchEnd; into: string | null }

export type PairedMatches<Stored> = {
  /** Each match with its stored finding; null for a new one. */
  found: { match: FoundMatch; stored: Stored | null }[]
  ended: EndedMatch<Stored>[]
}

/** What is known of components and advisories beside the matches. */
export type MatchFacts = {
  present: readonly PresentComponent[]
  /** Those of documents whose tool others have replaced. */
  replaced: readonly PresentComponent[]
  /** The ids of advisories that are withdrawn, and of their vulnerabilities. */
  withdrawn: ReadonlySet<string>
  /** Why all findings end that are not found; null to tell by the facts. */
  endAs: MatchEnd | null
}

/**
 * Recognizes the stored findings of matches. A finding is of a package, a file and a vulnerability
 * with any id that its group keeps. Two versions of a package in a file are two findings; a version
 * that replaces another goes on as its finding, and so does a file that replaces another. Of
 * several findings whose groups became one, the oldest goes on. Open findings that no match goes on
 * in end.
 */
export function compareMatches<Stored extends StoredMatch>(
  matches: readonly FoundMatch[],
  stored: readonly Stored[],
  facts: MatchFacts,
): PairedMatches<Stored> {
  const present = new PresentPlaces(facts.present)
  const replaced = new PresentPlaces(facts.replaced)
  const found = new Map<FoundMatch, Stored>()
  const taken = new Set<Stored>()
  const byName = groupByNames(stored.toSorted(compareStored), (of) => formatNames(of.package_key, of.vuln_ids))
  const isSamePlace = (match: FoundMatch, of: StoredMatch) => formatPlace(match.component) === formatPlace(of)
  const isSameFile = ({ component }: FoundMatch, of: Stored) =>
    component.path === of.path && formatPackageUrl(component) === formatPackageUrl(of) && !present.has(of)
  const isMoved = ({ component }: FoundMatch, of: Stored) =>
    component.component_no === of.component_no && !present.has(of)
  const rules: ((match: FoundMatch, of: Stored) => boolean)[] = [
    (match, of) => isSamePlace(match, of) && match.match.vuln_ids[0] === of.canonical_id,
    isSamePlace,
    isSameFile,
    isMoved,
  ]
  const toName = ({ component: { purl, path }, match }: FoundMatch) => `${purl}\n${path ?? ''}\n${match.vuln_ids[0]}`
  const sorted = matches.toSorted((one, other) => compareTexts(toName(one), toName(other)))
  for (const isSame of rules) {
    for (const match of sorted) {
      if (found.has(match)) continue
      const candidates = formatNames(match.package_key, match.match.vuln_ids).flatMap((name) => byName.get(name) ?? [])
      const same = candidates.toSorted(compareStored).find((of) => !taken.has(of) && isSame(match, of))
      if (same === undefined) continue
      found.set(match, same)
      taken.add(same)
    }
  }
  const matchesByName = groupByNames(sorted, ({ package_key, match }) => formatNames(package_key, match.vuln_ids))
  const open = stored.filter((of) => of.ended_as === null && !taken.has(of))
  return {
    found: sorted.map((match) => ({ match, stored: found.get(match) ?? null })),
    ended: open.map((of) => {
      const others = formatNames(of.package_key, of.vuln_ids).flatMap((name) => matchesByName.get(name) ?? [])
      const other = others.find((match) => isSamePlace(match, of))
      const into = other && found.get(other)
      if (into !== undefined) return { stored: of, as: 'merged', into: into.finding_id }
      return { stored: of, as: facts.endAs ?? explainEnd(of, facts.withdrawn, { present, replaced }), into: null }
    }),
  }
}

/** Where components are, and in which files packages are in any version. */
class PresentPlaces {
  readonly #places: ReadonlySet<string>
  readonly #packages: ReadonlySet<string>

  constructor(present: readonly PresentComponent[]) {
    this.#places = new Set(present.map(formatPlace))
    this.#packages = new Set(present.map((of) => `${formatPackageUrl(of)}\n${of.path}`))
  }

  has(of: StoredMatch): boolean {
    return this.#places.has(formatPlace(of))
  }

  hasOtherVersion(of: StoredMatch): boolean {
    return this.#packages.has(`${formatPackageUrl(of)}\n${of.path}`)
  }
}

function explainEnd(
  of: StoredMatch,
  withdrawn: ReadonlySet<string>,
  { present, replaced }: Record<'present' | 'replaced', PresentPlaces>,
): MatchEnd {
  if (present.has(of)) return of.vuln_ids.some((id) => withdrawn.has(id)) ? 'advisory_withdrawn' : 'advisory_corrected'
  if (replaced.has(of)) return 'stream_ended'
  return present.hasOtherVersion(of) ? 'version_changed' : 'component_removed'
}

/** Without version and qualifiers. */
function formatPackageUrl({ purl }: { purl: string }): string {
  return parsePackageUrl(purl)?.withoutVersion ?? purl
}

/** The names under which a vulnerability of a package is looked up: one for each id. */
function formatNames(packageKey: string, ids: readonly string[]): string[] {
  return ids.map((id) => `${packageKey}\n${id}`)
}

function groupByNames<Item>(items: readonly Item[], getNames: (item: Item) => string[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    for (const name of getNames(item)) {
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [item])
      else group.push(item)
    }
  }
  return groups
}

/** What is open comes first, then what is older. */
function compareStored(a: StoredMatch, b: StoredMatch): number {
  return (
    Number(a.ended_as !== null) - Number(b.ended_as !== null) ||
    a.first_seen_at.getTime() - b.first_seen_at.getTime() ||
    compareTexts(a.finding_id, b.finding_id)
  )
}
