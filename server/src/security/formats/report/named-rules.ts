/** Rules that are counted of one report. A tool that names more is known well enough. */
const RULES_COUNTED_MAX = 50_000

/** The rules that results name, by tool: problems, passes and the rest alike, because each shows that the rule was run. */
export class NamedRules {
  readonly #byTool = new Map<string, Set<string>>()
  #room = RULES_COUNTED_MAX

  add(tool: string, ruleId: string | null): void {
    if (ruleId === null || this.#room === 0) return
    const rules = this.#byTool.get(tool) ?? new Set()
    this.#byTool.set(tool, rules)
    const before = rules.size
    this.#room -= rules.add(ruleId).size - before
  }

  count(tool: string): number {
    return this.#byTool.get(tool)?.size ?? 0
  }
}
