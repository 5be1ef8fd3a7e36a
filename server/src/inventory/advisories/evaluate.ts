import { removeLocalVersion } from '../versions/pep440.ts'
import { toVersionKey, type VersionOrderName } from '../versions/version-orders.ts'
import type { AffectedPackage, AffectedRange, EventKind } from './affected.ts'

/**
 * What an advisory says about a version. `unknown_version`: it takes an order that the version
 * does not have.
 */
export type Verdict = 'affected' | 'unaffected' | 'unknown_version'

/**
 * Evaluates a version by the packages of one advisory (OSV schema, "Evaluation"): affected if it is
 * in `versions` or in a range of any of them. Takes time in proportion to what they list; what is
 * read of a package is kept as long as the package.
 */
export function evaluateVersion(
  version: string,
  order: VersionOrderName,
  packages: readonly AffectedPackage[],
): Verdict {
  const asked = toAskedVersion(order, version)
  return mergeVerdicts(packages.map((affected) => evaluatePackage(asked, readPackage(order, affected))))
}

/** Affected if one says so; unaffected if all do. */
export function mergeVerdicts(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('affected')) return 'affected'
  return verdicts.includes('unknown_version') ? 'unknown_version' : 'unaffected'
}

/**
 * The smallest version that a `fixed` event names, that is above this one, and that none of the
 * packages says is affected; null if there is none. `hints` may name further fixes.
 */
export function selectFixedVersion(
  version: string,
  order: VersionOrderName,
  { packages, hints }: { packages: readonly AffectedPackage[]; hints: readonly AffectedPackage[] },
): string | null {
  const from = toVersionKey(order, version)
  if (from === null) return null
  const fixes = new Map<string, string>()
  for (const { ranges } of new Set([...packages, ...hints])) {
    for (const fixed of ranges.flatMap(({ events }) => events.flatMap((event) => event.fixed ?? []))) {
      const key = toVersionKey(order, fixed)
      if (key !== null && key > from && fixed < (fixes.get(key) ?? '\uffff')) fixes.set(key, fixed)
    }
  }
  const sorted = [...fixes].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.find(([, fixed]) => evaluateVersion(fixed, order, packages) === 'unaffected')?.[1] ?? null
}

/** The version that is asked about, and its public part, which equals it in lists (PEP 440). */
type AskedVersion = { spellings: string[]; keys: Keys; semverKeys: Keys }
type Keys = { own: string | null; public: string | null }

function toAskedVersion(order: VersionOrderName, version: string): AskedVersion {
  const publicVersion = order === 'pep440' ? removeLocalVersion(version) : version
  const toKeys = (of: VersionOrderName) => ({ own: toVersionKey(of, version), public: toVersionKey(of, publicVersion) })
  return { spellings: [version, publicVersion], keys: toKeys(order), semverKeys: toKeys('semver') }
}

/** A package as it is compared: the keys of its versions, and its ranges with sorted events. */
type ReadPackage = {
  order: VersionOrderName
  isIgnored: boolean
  isTruncated: boolean
  texts: ReadonlySet<string>
  keys: ReadonlySet<string>
  ranges: readonly ReadRange[]
}

/** `events` is null if the version of one has no order. */
type ReadRange = { isSemver: boolean; isEndless: boolean; limits: readonly string[]; events: SortedEvent[] | null }

/** An event with the key of its version; null for the event before all versions. */
type SortedEvent = { kind: EventKind; key: string | null; isLocal: boolean }

const readPackages = new WeakMap<AffectedPackage, ReadPackage>()

/** What Debian's security team does not count (security-tracker.debian.org, "Urgency levels"). */
const NO_MATCH = new Set(['unimportant', 'not-affected', 'not affected'])
/** Orders that are that of Semantic Versioning, with an ecosystem's own spellings. */
const SEMVER_ORDERS: ReadonlySet<VersionOrderName> = new Set(['actions', 'go', 'npm', 'nuget', 'pub', 'semver'])

function readPackage(order: VersionOrderName, affected: AffectedPackage): ReadPackage {
  const known = readPackages.get(affected)
  if (known?.order === order) return known
  const { versions, ranges, urgency } = affected
  const read: ReadPackage = {
    order,
    isIgnored: urgency !== null && NO_MATCH.has(urgency),
    isTruncated: affected.is_truncated,
    texts: new Set(versions),
    keys: new Set(versions.flatMap((version) => toVersionKey(order, version) ?? [])),
    ranges: ranges.flatMap((range) => readRange(order, range)),
  }
  readPackages.set(affected, read)
  return read
}

/** A range without `introduced` or of an unknown type affects nothing. */
function readRange(order: VersionOrderName, { type, events }: AffectedRange): ReadRange[] {
  const stated = events.flatMap((event) => Object.entries(event) as [EventKind, string][])
  if ((type !== 'SEMVER' && type !== 'ECOSYSTEM') || !stated.some(([kind]) => kind === 'introduced')) return []
  const isSemver = type === 'SEMVER' && !SEMVER_ORDERS.has(order)
  const limited = stated.filter(([kind, version]) => kind === 'limit' && version !== '*')
  const bounds = stated.filter(([kind]) => kind !== 'limit')
  return [
    {
      isSemver,
      isEndless: limited.length === 0 && bounds.every(isStart),
      limits: limited.flatMap(([, version]) => toVersionKey(isSemver ? 'semver' : order, version) ?? []),
      events: sortEvents(isSemver ? 'semver' : order, bounds),
    },
  ]
}

function isStart([kind, version]: readonly [EventKind, string]): boolean {
  return kind === 'introduced' && version === '0'
}

const RANKS: Readonly<Record<EventKind, number>> = { introduced: 0, last_affected: 1, fixed: 2, limit: 3 }

function sortEvents(order: VersionOrderName, events: readonly [EventKind, string][]): SortedEvent[] | null {
  const sorted: SortedEvent[] = []
  for (const event of events) {
    const [kind, version] = event
    const key = isStart(event) ? null : toVersionKey(order, version)
    if (key === null && !isStart(event)) return null
    sorted.push({ kind, key, isLocal: version.includes('+') })
  }
  return sorted.sort((a, b) => compareKeys(a.key, b.key) || RANKS[a.kind] - RANKS[b.kind])
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === b) return 0
  return a !== null && (b === null || a > b) ? 1 : -1
}

function evaluatePackage(asked: AskedVersion, affected: ReadPackage): Verdict {
  if (affected.isIgnored) return 'unaffected'
  if (asked.spellings.some((version) => affected.texts.has(version))) return 'affected'
  const { own, public: publicKey } = asked.keys
  if ([own, publicKey].some((key) => key !== null && affected.keys.has(key))) return 'affected'
  const verdict = mergeVerdicts(affected.ranges.map((range) => evaluateRange(asked, range)))
  return verdict === 'unaffected' && affected.isTruncated ? 'unknown_version' : verdict
}

function evaluateRange(asked: AskedVersion, { isSemver, isEndless, limits, events }: ReadRange): Verdict {
  if (isEndless) return 'affected'
  const { own, public: publicKey } = isSemver ? asked.semverKeys : asked.keys
  if (own === null || events === null) return 'unknown_version'
  if (limits.length > 0 && !limits.some((limit) => own < limit)) return 'unaffected'
  let isAffected = false
  for (const { kind, key, isLocal } of events) {
    if (kind === 'introduced' && (key === null || own >= key)) isAffected = true
    if (key === null) continue
    if (kind === 'fixed' && own >= key) isAffected = false
    if (kind === 'last_affected' && (isLocal ? own : (publicKey ?? own)) > key) isAffected = false
  }
  return isAffected ? 'affected' : 'unaffected'
}
