import type { KnownRule } from './known-rules.ts'
import { listBroaderCwes } from './weakness-names.ts'

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
