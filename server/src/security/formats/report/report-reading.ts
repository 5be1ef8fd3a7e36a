import { truncateText } from '../../vocabulary/bounded-text.ts'
import { type ParsedFinding, ReportError } from './parsed-report.ts'

export type OnFindings = (batch: ParsedFinding[]) => Promise<void>

const BATCH_SIZE = 500
/** The number of findings that are kept of one report. */
export const FINDINGS_MAX = 100_000

/** Passes findings on in batches, counts them, and collects the rules they name. */
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

/** The number of rules that are kept of one report. */
const RULES_MAX = 50_000

/**
 * The rules that results name, by tool. Results that are not findings count: the rule was
 * run.
 */
export class NamedRules {
  readonly #byTool = new Map<string, Set<string>>()
  #room = RULES_MAX

  add(tool: string, ruleId: string | null): void {
    if (ruleId === null || this.#room === 0) return
    const rules = this.#byTool.get(tool) ?? new Set()
    this.#byTool.set(tool, rules)
    const before = rules.size
    this.#room -= rules.add(ruleId).size - before
  }

  has(tool: string, ruleId: string): boolean {
    return this.#byTool.get(tool)?.has(ruleId) ?? false
  }
}

const WARNINGS_MAX = 50
const WARNING_LENGTH_MAX = 300

/**
 * What the sender of a readable report should know. Keeps the first 50 warnings, counts the rest.
 */
export class ReportWarnings {
  readonly #messages = new Set<string>()
  #dropped = 0

  /** Adds a warning, a whole sentence. Repeated warnings are kept once. */
  add(message: string): void {
    const text = truncateText(message, WARNING_LENGTH_MAX) ?? ''
    if (this.#messages.has(text)) return
    if (this.#messages.size < WARNINGS_MAX) this.#messages.add(text)
    else this.#dropped++
  }

  addUnlessNull(message: string | null): void {
    if (message !== null) this.add(message)
  }

  list(): string[] {
    if (this.#dropped === 0) return [...this.#messages]
    return [...this.#messages, `Further warnings that are not listed: ${this.#dropped}.`]
  }
}

/** Counts the entries of a report's main list: those that were read and those that were skipped. */
export class EntryCount {
  readonly #warnings: ReportWarnings
  #read = 0
  #firstSkip = ''
  skipped = 0

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  addRead(): void {
    this.#read++
  }

  /** Counts a skipped entry. `reason` names the entry and the cause, without a full stop. */
  addSkipped(reason: string): void {
    this.skipped++
    this.#firstSkip ||= `${reason}.`
    this.#warnings.add(`${reason}; it was skipped.`)
  }

  /** True if there are entries, and none could be read. */
  get isUnread(): boolean {
    return this.skipped > 0 && this.#read === 0
  }

  /**
   * Fails a report without any readable entry. Read as an empty report, it would close all
   * findings.
   */
  refuseIfNoneWasRead(entries: string): void {
    if (!this.isUnread) return
    throw new ReportError(`None of the ${entries} could be read (${this.skipped} skipped). ${this.#firstSkip}`)
  }
}

const ENTRIES_MAX = 2000
const KEY_MAX = 500

/**
 * A bounded cache of values by key, because many results of a report name the same few files and
 * rules. The values are shared and must not be changed.
 */
export class Memo<T extends NonNullable<unknown>> {
  readonly #values = new Map<string, T>()

  get(key: string, make: () => T): T {
    const cached = this.#values.get(key)
    if (cached !== undefined) return cached
    const made = make()
    if (this.#values.size === ENTRIES_MAX) this.clear()
    if (key.length <= KEY_MAX) this.#values.set(key, made)
    return made
  }

  clear(): void {
    this.#values.clear()
  }
}
