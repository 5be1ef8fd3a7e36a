import { KnownRules } from '../../src/security/issues/grouping/known-rules.ts'
import { loadRuleMap } from '../../src/security/vocabulary/load-rule-map.ts'

/** The rules of the built-in rule map. */
export const RULES = new KnownRules(await loadRuleMap(null))
