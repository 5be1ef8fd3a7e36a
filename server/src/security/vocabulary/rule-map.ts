import type { RuleGroup, RuleMapFile } from './rule-map.schema.ts'
import { listRuleNames, type RuleName } from './rule-name.ts'

/** The ids of groups by rule. */
type GroupIndex = ReadonlyMap<string, readonly string[]>

const NONE: readonly string[] = []

/** Which rules of different tools report the same weakness or check the same control. */
export class RuleMap {
  readonly weaknesses: ReadonlyMap<string, RuleGroup>
  readonly controls: ReadonlyMap<string, RuleGroup>
  readonly #weaknessesByRule: GroupIndex
  readonly #controlsByRule: GroupIndex
  /** The canonical spelling of a rule by each other spelling. */
  readonly #spellings: ReadonlyMap<string, RuleName>

  /**
   * A group replaces the group with the same id in an earlier file, and removes it if it has no
   * rules.
   */
  constructor(files: readonly RuleMapFile[]) {
    this.#spellings = new Map(files.flatMap(({ spellings = {} }) => spellingEntries(spellings)))
    this.weaknesses = groupsById(files.flatMap(({ weaknesses = [] }) => weaknesses))
    this.controls = groupsById(files.flatMap(({ controls = [] }) => controls))
    this.#weaknessesByRule = indexByRule(this.weaknesses)
    this.#controlsByRule = indexByRule(this.controls)
  }

  /**
   * The ids of the groups in `weaknesses` that contain a rule of a report. `message` is the message
   * of the result, which names the rule if golangci-lint ran the linter.
   */
  weaknessesOfRule(tool: string, ruleId: string, message: string | null = null): readonly string[] {
    return this.#selectGroups(this.#weaknessesByRule, listRuleNames(tool, ruleId, message))
  }

  /**
   * The ids of the groups in `controls` that contain a rule of a report. `message` is the message
   * of the result, which states the missing request or limit if KubeLinter or kube-score ran.
   */
  controlsOfRule(tool: string, ruleId: string, message: string | null = null): readonly string[] {
    return this.#selectGroups(this.#controlsByRule, listRuleNames(tool, ruleId, message))
  }

  /**
   * The canonical name of a rule, like `gosec g204`. It is equal if two tools report the same rule:
   * gosec and golangci-lint, tfsec and Trivy, Semgrep and Opengrep.
   */
  canonicalRule(tool: string, ruleId: string, message: string | null = null): string {
    const names = listRuleNames(tool, ruleId, message).map((name) => this.#respelled(name))
    const mapped = names.find(
      (name) => this.#weaknessesByRule.has(toKey(name)) || this.#controlsByRule.has(toKey(name)),
    )
    return toKey(mapped ?? (names[0] as RuleName))
  }

  #selectGroups(index: GroupIndex, names: readonly RuleName[]): readonly string[] {
    for (const name of names) {
      const groups = index.get(toKey(this.#respelled(name)))
      if (groups !== undefined) return groups
    }
    return NONE
  }

  #respelled(name: RuleName): RuleName {
    return this.#spellings.get(toKey(name)) ?? name
  }
}

/** Rules are found in any case, because tools write their ids in upper and lower case. */
function toKey({ tool, rule }: RuleName): string {
  return `${tool} ${rule}`.toLowerCase()
}

function spellingEntries(spellings: NonNullable<RuleMapFile['spellings']>): [string, RuleName][] {
  return Object.entries(spellings).flatMap(([tool, rules]) =>
    Object.entries(rules).flatMap(([rule, others]) =>
      others.map((other): [string, RuleName] => [toKey(writtenName(tool, other)), writtenName(tool, rule)]),
    ),
  )
}

/** The name of a rule by its name in a rule map, which may be any spelling that tools use. */
function writtenName(tool: string, rule: string): RuleName {
  return listRuleNames(tool, rule, null)[0] as RuleName
}

function groupsById(groups: readonly RuleGroup[]): Map<string, RuleGroup> {
  const byId = new Map(groups.map((group) => [group.id, group]))
  for (const [id, { rules }] of byId) if (Object.keys(rules).length === 0) byId.delete(id)
  return byId
}

function indexByRule(groups: ReadonlyMap<string, RuleGroup>): GroupIndex {
  const index = new Map<string, string[]>()
  for (const [id, { rules }] of groups) {
    for (const key of Object.entries(rules).flatMap(([tool, ids]) =>
      ids.map((rule) => toKey(writtenName(tool, rule))),
    )) {
      const ids = index.get(key)
      if (ids === undefined) index.set(key, [id])
      else if (!ids.includes(id)) ids.push(id)
    }
  }
  return index
}
