import { NamedRules } from './named-rules.ts'
import type { ParsedFinding, ReportTool } from './parsed-report.ts'

export type OnFindings = (batch: ParsedFinding[]) => Promise<void>

const BATCH_SIZE = 500
/** More findings of one report are not kept. */
export const FINDINGS_MAX = 100_000

/** Hands findings out in batches, at most as many as a report may have. */
export class FindingBatch {
  readonly namedRules = new NamedRules()
  readonly #onFindings: OnFindings
  #waiting: ParsedFinding[] = []
  count = 0
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

  /** The tool of a document that declares no rules: it names as many as its findings do. Of a bill of materials they are vulnerabilities. */
  toolWithRules(tool: ReportTool): ReportTool {
    return { ...tool, rules: this.namedRules.count(tool.name) }
  }

  /** Hands out whole batches, and waits until they are taken. */
  async flushFull(): Promise<void> {
    while (this.#waiting.length >= BATCH_SIZE) await this.#onFindings(this.#waiting.splice(0, BATCH_SIZE))
  }

  /** Hands out what is left. */
  async flush(): Promise<void> {
    await this.flushFull()
    if (this.#waiting.length > 0) await this.#onFindings(this.#waiting.splice(0))
  }
}
