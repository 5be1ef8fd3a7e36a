import type { ParsedFinding, ReportTool } from './parsed-report.ts'

export type OnFindings = (batch: ParsedFinding[]) => Promise<void>

const BATCH_SIZE = 500
/** The number of findings that are kept of one report. */
export const FINDINGS_MAX = 100_000

/** Passes findings on in batches, and counts them and the rules they name. */
export class FindingBatch {
  readonly namedRules = new NamedRules()
  readonly #onFindings: OnFindings
  #waiting: ParsedFinding[] = []
  count = 0
  /** True if the report has more findings than are kept. */
  isTruncated = false

  constructor(onFindings: OnFindings) {
    this.#onFindings = onFindings
  }

  add(finding: ParsedFinding): void {
    this.namedRules.add(finding.tool, finding.rule_id)
    if (this.count === FINDINGS_MAX) {
      this.isTruncated = true
      return
    }
    this.count++
    this.#waiting.push(finding)
  }

  /** The tool of a bill of materials, with the number of vulnerabilities as its number of rules. */
  toolWithRules(tool: ReportTool): ReportTool {
    return { ...tool, rules: this.namedRules.count(tool.name) }
  }

  /** Passes on all full batches, and waits until they are processed. */
  async flushFull(): Promise<void> {
    while (this.#waiting.length >= BATCH_SIZE) await this.#onFindings(this.#waiting.splice(0, BATCH_SIZE))
  }

  /** Passes on all findings that are left, and waits until they are processed. */
  async flush(): Promise<void> {
    await this.flushFull()
    if (this.#waiting.length > 0) await this.#onFindings(this.#waiting.splice(0))
  }
}

/** The number of rules that are counted of one report. */
const RULES_COUNTED_MAX = 50_000

/**
 * Counts the rules that results name, by tool. Results that are not findings count: the rule was
 * run.
 */
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
