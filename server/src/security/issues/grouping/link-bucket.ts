import { isAboutPackage } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkByFingerprint, linkBySecret, linkByWeakness } from './link-locations.ts'
import { linkByRule, linkByVulnerability } from './link-packages.ts'
import { Links } from './links.ts'
import type { CanonicalId } from './shared-names.ts'

/** Determines which findings of one bucket belong to one issue. */
export function linkBucket(members: readonly GroupingFacts[], canonicalId: CanonicalId): Links {
  const links = new Links(members)
  applyRules(links, canonicalId)
  return links
}

/**
 * Applies all rules in order. The first rule that matches is a finding's reason. The result does
 * not depend on the order of the findings.
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
