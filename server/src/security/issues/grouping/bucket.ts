import { hash } from 'node:crypto'
import type { FindingKind } from '../../vocabulary/finding.ts'
import type { GroupingFacts, Member } from './grouping-facts.ts'
import { groupBy } from './links.ts'
import { sharedPackageName } from './shared-names.ts'

const BUCKET_BYTES = 16

/**
 * The package, secret, file or resource that a finding is in, within its repository, as hex. Only
 * findings of one bucket are compared: findings of two buckets never belong to one issue.
 */
export function bucketOf(facts: GroupingFacts): string {
  // Not sliced from the longer text, which V8 would keep in memory as long as its part.
  return hash('sha256', JSON.stringify(keyOf(facts)), 'buffer').toString('hex', 0, BUCKET_BYTES)
}

function keyOf(facts: GroupingFacts): (string | null)[] {
  const packageName = sharedPackageName(facts)
  if (isAboutPackage(facts.kind) && packageName !== null) return [facts.kind, packageName]
  if (facts.kind === 'secret' && facts.context !== null) return ['secret', facts.context]
  return [FAMILIES[facts.kind], facts.path ?? facts.resource_name, facts.path === null ? 'resource' : 'file']
}

export function isAboutPackage(kind: FindingKind): boolean {
  return kind === 'dependency' || kind === 'license'
}

/**
 * Scanners disagree on whether a Dockerfile is infrastructure or a container, and on what is not
 * code.
 */
const FAMILIES: Record<FindingKind, string> = {
  code: 'code',
  other: 'code',
  iac: 'configuration',
  container: 'configuration',
  secret: 'secret place',
  dependency: 'dependency',
  license: 'license',
}

const MEMBERS_AT_ONCE = 20_000

/**
 * Splits findings into batches that can be grouped one after the other. A bucket is never split.
 * All buckets with stored findings are in the first batch, because a stored finding may have moved
 * between them.
 */
export function bucketBatches(members: readonly Member[]): Member[][] {
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
