import { isAboutPackage } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkByRule, linkByVulnerability } from './link-packages.ts'
import { linkByFingerprint, linkBySecret, linkByWeakness } from './link-places.ts'
import { Links } from './links.ts'
import type { CanonicalId } from './vulnerability-names.ts'

/** Which findings of one bucket are one issue. */
export function linkBucket(members: readonly GroupingFacts[], canonicalId: CanonicalId): Links {
  const links = new Links(members)
  applyRules(links, canonicalId)
  return links
}

/**
 * An ordered matcher whose first rule that holds is a finding's reason. The result depends on the set of findings alone,
 * not on the order in which they came.
 */
export function applyRules(links: Links, canonicalId: CanonicalId): void {
  if (links.members.length < 2) return
  const { kind, context } = links.factsOf(0)
  linkByVulnerability(links, canonicalId)
  if (kind === 'secret' && context !== null) linkBySecret(links)
  linkByFingerprint(links)
  if (isAboutPackage(kind)) linkByRule(links)
  else linkByWeakness(links)
}
