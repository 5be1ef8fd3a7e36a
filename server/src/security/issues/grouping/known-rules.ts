import type { RuleMap } from '../../vocabulary/rule-map.ts'
import { listRuleNames, normalizeRuleId } from '../../vocabulary/rule-name.ts'
import type { GroupingFacts } from './grouping-facts.ts'

/** What is known about the rule of a finding. */
export type KnownRule = {
  /** Equal for all editions of a scanner, and for a scanner that another one runs. */
  scanner: string
  /** Equal for all spellings of a rule id. */
  rule: string
  /** The scanner and the rule as a sentence names them. */
  label: string
  /** The groups of the rule map that contain the rule. */
  groups: readonly string[]
  /** The CWEs of these groups. */
  cwes: readonly string[]
  /** The name that scanners share if they adopt a rule; null if it says too little. */
  sharedName: string | null
  /** True if the rule is about a file as a whole. */
  isAboutFile: boolean
  /** False if the CWEs that the scanner states are not those of the code that it flags. */
  hasPreciseCwes: boolean
}

type RuleFacts = Pick<GroupingFacts, 'tool' | 'rule_id' | 'message'>

/** Looks rules up in the rule map, each only once. */
export class KnownRules {
  readonly #map: RuleMap
  readonly #known = new Map<string, Map<string, KnownRule>>()

  constructor(map: RuleMap) {
    this.#map = map
  }

  of({ tool, rule_id: ruleId, message }: RuleFacts): KnownRule {
    const ofTool = this.#known.get(tool) ?? new Map<string, KnownRule>()
    if (ofTool.size === 0) this.#known.set(tool, ofTool)
    const id = ruleId ?? ''
    const key = message === null ? id : `${id}\n${message}`
    const known = ofTool.get(key)
    if (known !== undefined) return known
    const rule = this.#lookUp(tool, normalizeRuleId(id), message)
    ofTool.set(key, rule)
    return rule
  }

  #lookUp(tool: string, ruleId: string, message: string | null): KnownRule {
    const weaknesses = this.#map.weaknessesOfRule(tool, ruleId, message)
    const controls = this.#map.controlsOfRule(tool, ruleId, message)
    const rule = this.#map.canonicalRule(tool, ruleId, message)
    return {
      scanner: listRuleNames(tool, ruleId, message)[0]?.tool ?? tool,
      rule,
      label: ruleId === '' ? tool : `${tool} ${ruleId}`,
      groups: [...weaknesses, ...controls],
      cwes: [...new Set(weaknesses.flatMap((id) => this.#map.weaknesses.get(id)?.cwes ?? []))],
      sharedName: parseSharedName(ruleId),
      isAboutFile: controls.some((id) => this.#map.controls.get(id)?.whole_file === true),
      hasPreciseCwes: !IMPRECISE_CWES.test(rule),
    }
  }
}

/**
 * Bandit gives imports (B401 to B415) the CWE of what the module may be used for, and a program
 * that is started without its full path (B607) the CWE of command injection. Ruff has the same
 * rules.
 */
const IMPRECISE_CWES = /^(?:bandit b|ruff s)(?:4\d\d|607)$/

/**
 * The last part of a rule id, because scanners put languages and plugins before it, as in
 * `security/detect-eval-with-expression`. A single word or a number names different rules in
 * different scanners.
 */
function parseSharedName(ruleId: string): string | null {
  const last = ruleId.toLowerCase().split(/[./:]/).at(-1) ?? ''
  return /^[a-z]+(?:[-_][a-z0-9]+)+$/.test(last) && !/\d{3}/.test(last) ? last.replaceAll('_', '-') : null
}
