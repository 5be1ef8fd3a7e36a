import { isTooGeneral, listAncestors } from '../../vocabulary/cwe.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { KnownRule } from './known-rules.ts'

/** CWEs of hard-coded credentials: passwords and cryptographic keys. */
const CREDENTIAL_CWES = new Set(['CWE-798', 'CWE-259', 'CWE-321'])

/**
 * Whether a finding is about a secret, whatever its scanner calls it: Bandit's B105 is a rule for
 * code.
 */
export function isSecret({ kind, cwes }: Pick<GroupingFacts, 'kind' | 'cwes'>, rule: KnownRule): boolean {
  if (kind === 'secret') return true
  if (kind === 'dependency' || kind === 'license') return false
  return cwes.some((cwe) => CREDENTIAL_CWES.has(cwe)) || rule.cwes.some((cwe) => CREDENTIAL_CWES.has(cwe))
}

/** Whether a finding is about a declared resource instead of a statement. */
export function isConfiguration({ kind }: Pick<GroupingFacts, 'kind'>): boolean {
  return kind === 'iac' || kind === 'container'
}

/**
 * Classes that name one weakness nevertheless. Few CWEs below them are in use, so scanners state
 * the class itself.
 */
const PRECISE_CLASSES = new Set(['CWE-77', 'CWE-327', 'CWE-330'])

/**
 * The CWEs by which a finding is compared with those of other scanners. None for configuration,
 * where a CWE covers many controls.
 */
export function selectComparableCwes(facts: Pick<GroupingFacts, 'kind' | 'cwes'>, rule: KnownRule): string[] {
  if (isConfiguration(facts) || !rule.hasPreciseCwes) return []
  return [...new Set([...facts.cwes, ...rule.cwes])].filter((cwe) => PRECISE_CLASSES.has(cwe) || !isTooGeneral(cwe))
}

/**
 * Scanners disagree on the CWE of these weaknesses, which the research view relates only through a
 * class: an evaluated text, and an attribute that a request names.
 */
const RELATED_IN_PRACTICE: Record<string, string> = { 'CWE-95': 'CWE-78', 'CWE-915': 'CWE-89' }

/** The CWEs of which one is a kind. */
export function listBroaderCwes(cwe: string): string[] {
  const related = RELATED_IN_PRACTICE[cwe]
  return related === undefined ? listAncestors(cwe) : [...listAncestors(cwe), related]
}

/** What the rules of two findings may have in common: the most reliable first. */
export const SHARED = ['rule', 'group', 'name', 'cwe', 'broader cwe'] as const

/**
 * A property by which findings are compared. Those that share a broader CWE are comparable only if
 * one of them reports that CWE itself.
 */
export type WeaknessKey = { by: (typeof SHARED)[number]; name: string; role: 'equal' | 'broader' | 'narrower' }

/** All properties of a finding by which it may have the weakness of another finding. */
export function collectWeaknessKeys(rule: KnownRule, cwes: readonly string[]): WeaknessKey[] {
  const keys: WeaknessKey[] = [{ by: 'rule', name: rule.rule, role: 'equal' }]
  for (const name of rule.groups) keys.push({ by: 'group', name, role: 'equal' })
  if (rule.sharedName !== null) keys.push({ by: 'name', name: rule.sharedName, role: 'equal' })
  for (const cwe of cwes) {
    keys.push({ by: 'cwe', name: cwe, role: 'equal' }, { by: 'broader cwe', name: cwe, role: 'broader' })
    for (const name of listBroaderCwes(cwe)) keys.push({ by: 'broader cwe', name, role: 'narrower' })
  }
  return keys
}

export function canCompare(one: WeaknessKey, other: WeaknessKey): boolean {
  return one.by !== 'broader cwe' || one.role !== other.role
}
