import { isAboutPackage } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { KnownRules } from './known-rules.ts'
import { linkByRule, linkByVulnerability } from './link-packages.ts'
import { linkByFingerprint, linkByScanner } from './link-scanner.ts'
import { linkSecrets } from './link-secrets.ts'
import { linkByWeakness } from './link-weaknesses.ts'
import { Links } from './links.ts'
import { computeResources } from './resources.ts'
import type { CanonicalId } from './shared-names.ts'
import { isSecret } from './weakness-names.ts'

/** The names under which vulnerabilities and rules are compared. */
export type Names = { canonicalId: CanonicalId; rules: KnownRules }

/** Determines which findings of one bucket belong to one issue. */
export function linkBucket(members: readonly GroupingFacts[], names: Names): Links {
  const links = new Links(members, names.rules)
  applyRules(links, names.canonicalId)
  return links
}

/**
 * Applies all rules in order. The first rule that matches is a finding's reason. The result does
 * not depend on the order of the findings.
 */
export function applyRules(links: Links, canonicalId: CanonicalId): void {
  if (links.members.length < 2) return
  const first = links.getFacts(0)
  linkByVulnerability(links, canonicalId)
  linkByFingerprint(links)
  if (isAboutPackage(first.kind)) linkByRule(links)
  else if (isSecret(first, links.getRule(0))) linkSecrets(links)
  else linkByPlace(links)
}

function linkByPlace(links: Links): void {
  const resources = computeResources(links)
  linkByScanner(links, resources)
  linkByWeakness(links, resources)
}
