import { hash } from 'node:crypto'
import type { FindingKind } from '../../vocabulary/finding.ts'
import type { GroupingFacts, Member } from './grouping-facts.ts'
import type { KnownRules } from './known-rules.ts'
import { groupBy } from './links.ts'
import { normalizeSharedPackageName } from './shared-names.ts'
import { isSecret } from './weakness-names.ts'

const BUCKET_BYTES = 16
const PACKAGE_KINDS: readonly FindingKind[] = ['dependency', 'license']

/**
 * The package, file or resource that a finding is in, within its repository, as hex; one bucket for
 * all secrets of the repository, because a secret may be in several files. Only findings of one
 * bucket are compared: findings of two buckets never belong to one issue.
 */
export function computeBucket(facts: GroupingFacts, rules: KnownRules): string {
  return computeDigest(getKey(facts, rules))
}

function computeDigest(key: readonly (string | null)[]): string {
  // Not sliced from the longer text, which V8 would keep in memory as long as its part.
  return hash('sha256', JSON.stringify(key), 'buffer').toString('hex', 0, BUCKET_BYTES)
}

/**
 * Code and configuration share the bucket of their file: scanners disagree on whether a Dockerfile
 * is infrastructure or a container, and scanners for code have rules for infrastructure.
 */
function getKey(facts: GroupingFacts, rules: KnownRules): (string | null)[] {
  const packageName = normalizeSharedPackageName(facts)
  if (isAboutPackage(facts.kind) && packageName !== null) return [facts.kind, packageName]
  if (isSecret(facts, rules.of(facts))) return ['secrets']
  const place = isAboutPackage(facts.kind) ? facts.kind : 'place'
  return [place, facts.path ?? facts.resource_name, facts.path === null ? 'resource' : 'file']
}

/** The buckets of a package by its name or package URL, as hex: one for each kind of finding. */
export function computePackageBuckets(text: string): string[] {
  const shared = normalizeSharedPackageName(
    text.startsWith('pkg:') ? { purl: text, package_name: null } : { purl: null, package_name: text },
  )
  return shared === null ? [] : PACKAGE_KINDS.map((kind) => computeDigest([kind, shared]))
}

export function isAboutPackage(kind: FindingKind): boolean {
  return PACKAGE_KINDS.includes(kind)
}

const MEMBERS_AT_ONCE = 10_000

/**
 * Splits findings into batches that can be grouped one after the other. A bucket is never split.
 * All buckets with stored findings are in the first batch, because a stored finding may have moved
 * between them.
 */
export function splitByBucket(members: readonly Member[]): Member[][] {
  const buckets = groupBy(members, ({ bucket }) => bucket)
  const stored: Member[] = []
  const batches = [stored]
  for (const inBucket of buckets.values()) {
    const batch = inBucket.some(({ id }) => id !== null) ? stored : openBatch(batches)
    for (const member of inBucket) batch.push(member)
  }
  return batches.filter((batch) => batch.length > 0)
}

/** The last batch, or a new one if that is full. The first batch takes stored buckets only. */
function openBatch(batches: Member[][]): Member[] {
  const last = batches.at(-1) as Member[]
  if (batches.length > 1 && last.length < MEMBERS_AT_ONCE) return last
  const next: Member[] = []
  batches.push(next)
  return next
}
