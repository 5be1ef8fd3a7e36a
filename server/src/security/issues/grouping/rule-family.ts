import type { GroupingFacts } from './grouping-facts.ts'

/** Rules that scanners took over from another one, with the number that they kept: ruff's S102 is Bandit's B102. */
const TAKEN_OVER = /^[sb](\d{3})$/

/** Trivy wrote its ids with the name of their database before them, and no longer does: `AVD-AWS-0088`. */
const DATABASE = /^avd-(?=[a-z]+-\d)/

/**
 * What rules of several scanners have in common that look for the same: the last part of the id, where scanners put
 * languages, plugins and vendors before it (`python.lang.security.exec-detected`, `security/detect-eval`, `js/xss`).
 */
export function ruleFamily(ruleId: string): string {
  const last =
    ruleId
      .toLowerCase()
      .split(/[./:]/)
      .findLast((part) => /[a-z]/.test(part)) ?? ruleId.toLowerCase()
  const number = TAKEN_OVER.exec(last)?.[1]
  return number === undefined ? last.replace(DATABASE, '') : `bandit ${number}`
}

/** What a finding is an instance of: its CWEs and its rule's family. Two findings are of one weakness when they share one. */
export function weaknessesOf({ cwes, rule_id, secret_type }: GroupingFacts): string[] {
  const rule = secret_type ?? rule_id
  return rule === null ? [...cwes] : [...cwes, `rule ${ruleFamily(rule)}`]
}
