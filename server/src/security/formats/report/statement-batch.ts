import { ReportError, type VexFormat } from './parsed-report.ts'
import { EntryCount, ReportWarnings } from './report-warnings.ts'
import type { Subject, VexDocument, VexStatement } from './vex-statement.ts'

export type OnStatements = (batch: VexStatement[]) => Promise<void>

const BATCH_SIZE = 500
/** The number of statements that a document may make. One entry makes one for each package. */
const STATEMENTS_MAX = 100_000

/** What is counted while the statements of a document are read. */
export type ReadStatements = Pick<VexDocument, 'format' | 'statements' | 'skipped' | 'warnings'>

/** Passes the statements of a document on in batches, and counts what was read and skipped. */
export class StatementBatch {
  readonly warnings = new ReportWarnings()
  readonly entries = new EntryCount(this.warnings)
  readonly #onStatements: OnStatements
  readonly #format: VexFormat
  #waiting: VexStatement[] = []
  #count = 0
  #unnamed = 0

  constructor(format: VexFormat, onStatements: OnStatements) {
    this.#format = format
    this.#onStatements = onStatements
  }

  /** Adds a statement; counts it only if it is about something that cannot be identified (null). */
  addAbout(subject: Subject | null, facts: Omit<VexStatement, keyof Subject>): void {
    if (subject === null) this.#unnamed++
    else this.#add({ ...facts, ...subject })
  }

  /**
   * A part of a document could dismiss what its rest states as affected, so a document that is too
   * long is refused.
   */
  #add(statement: VexStatement): void {
    if (this.#count === STATEMENTS_MAX) {
      const message = `The document makes more than ${STATEMENTS_MAX} statements. Split it into several documents.`
      throw new ReportError(message, this.#format)
    }
    this.#count++
    this.#waiting.push(statement)
  }

  async flushFull(): Promise<void> {
    while (this.#waiting.length >= BATCH_SIZE) await this.#onStatements(this.#waiting.splice(0, BATCH_SIZE))
  }

  /** Passes on what is left, and returns what the document contained. */
  async finish(): Promise<ReadStatements> {
    await this.flushFull()
    if (this.#waiting.length > 0) await this.#onStatements(this.#waiting.splice(0))
    this.entries.refuseIfNoneWasRead('statements', this.#format)
    if (this.#unnamed > 0) {
      const what = `Statements about products without a package URL or address: ${this.#unnamed}`
      this.warnings.add(`${what}. They do not apply to any finding.`)
    }
    const { skipped } = this.entries
    return { format: this.#format, statements: this.#count, skipped, warnings: this.warnings.list() }
  }
}
