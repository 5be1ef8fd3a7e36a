import { hash } from 'node:crypto'
import type { FindingKind } from '../../vocabulary/finding-kind.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { sharedPackageName } from './package-name.ts'

const BUCKET_BYTES = 16

/**
 * Where a finding is, within its repository, as hex: a package, a secret, a file or a resource. Two findings of different
 * buckets are never one issue, so that only those of one bucket are ever compared.
 */
export function bucketOf(facts: GroupingFacts): string {
  // Not cut from the longer text, which V8 would keep as long as its part.
  return hash('sha256', JSON.stringify(placeOf(facts)), 'buffer').toString('hex', 0, BUCKET_BYTES)
}

function placeOf(facts: GroupingFacts): (string | null)[] {
  const packageName = sharedPackageName(facts)
  if (isAboutPackage(facts.kind) && packageName !== null) return [facts.kind, packageName]
  if (facts.kind === 'secret' && facts.context !== null) return ['secret', facts.context]
  return [FAMILIES[facts.kind], facts.path ?? facts.resource_name, facts.path === null ? 'resource' : 'file']
}

export function isAboutPackage(kind: FindingKind): boolean {
  return kind === 'dependency' || kind === 'license'
}

/** Scanners do not agree whether a Dockerfile is infrastructure or a container, nor on what is no code. */
const FAMILIES: Record<FindingKind, string> = {
  code: 'code',
  other: 'code',
  iac: 'configuration',
  container: 'configuration',
  secret: 'secret place',
  dependency: 'dependency',
  license: 'license',
}
