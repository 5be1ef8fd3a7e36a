import { boundedText } from '../../vocabulary/bounded-text.ts'
import { ReportError, type UploadFormat } from './parsed-report.ts'

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
    const text = boundedText(message, WARNING_LENGTH_MAX) ?? ''
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

  /**
   * Fails a report without any readable entry. Read as an empty report, it would close all
   * findings.
   */
  refuseIfNoneWasRead(entries: string, format: UploadFormat): void {
    if (this.skipped === 0 || this.#read > 0) return
    throw new ReportError(`None of the ${entries} could be read (${this.skipped} skipped). ${this.#firstSkip}`, format)
  }
}
