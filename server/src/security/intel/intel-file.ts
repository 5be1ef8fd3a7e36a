/**
 * An intelligence file that cannot be imported. The message is one sentence that names the line or
 * record.
 */
export class IntelError extends Error {
  override readonly name = 'IntelError'
}

/** The version and date that a file states about itself. */
export type FileFacts = { version: string | null; as_of: Date }

/** What was read of a file beside its rows. */
export type ReadFile = FileFacts & SkippedRows

/** A calendar date such as `2024-02-29`, or null if the value is not one. */
export function parseDate(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const at = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : null
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/

/** A time with a UTC offset (RFC 3339), or null if the value is not one. */
export function parseTimestamp(value: unknown): Date | null {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return null
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? null : at
}

/** A file in which more than one row in a hundred cannot be read is another kind of file. */
const SKIPPED_SHARE_MAX = 0.01
/** The number of rows of a file that may be odd, however short it is. */
const SKIPPED_ALWAYS = 1
const REASONS_MAX = 20

/** Reads the rows of a file, and skips those that are odd. */
export class FileRows {
  readonly #reasons: string[] = []
  #read = 0
  #skipped = 0

  /** The row in a list; an empty list if it is odd. */
  read<Row>(parse: () => Row): Row[] {
    try {
      const row = parse()
      this.#read += 1
      return [row]
    } catch (error) {
      if (!(error instanceof IntelError)) throw error
      this.#skipped += 1
      if (this.#reasons.length < REASONS_MAX) this.#reasons.push(error.message)
      return []
    }
  }

  /**
   * Throws IntelError if no row was read, or too many were skipped. `noun` is what the rows are.
   */
  finish(noun: string): SkippedRows {
    const [reason] = this.#reasons
    if (this.#read === 0 && reason === undefined) throw new IntelError(`The file contains no ${noun}.`)
    const isOther = this.#skipped > Math.max(SKIPPED_ALWAYS, this.#read * SKIPPED_SHARE_MAX)
    if (this.#read === 0 || isOther) {
      throw new IntelError(
        `${reason} Of the ${noun}, ${this.#skipped} of ${this.#read + this.#skipped} cannot be read.`,
      )
    }
    return { skipped: this.#skipped, reasons: this.#reasons }
  }
}

/** The number of rows that were skipped, and the reasons for the first ones, as sentences. */
export type SkippedRows = { skipped: number; reasons: readonly string[] }
