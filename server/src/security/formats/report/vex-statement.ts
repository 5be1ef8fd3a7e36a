import { COMMENT_MAX, NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { collectVulnerabilityIds, normalizeId } from '../../vocabulary/vulnerability-id.ts'
import { ReportError } from './parsed-report.ts'
import { EntryCount, ReportWarnings } from './report-reading.ts'

export const VEX_STATUSES = ['not_affected', 'affected', 'fixed', 'under_investigation'] as const
export type VexStatus = (typeof VEX_STATUSES)[number]

/** What a VEX document states about one vulnerability in one package or product. */
export type VexStatement = {
  status: VexStatus
  /** All ids of the vulnerability, its own id first. */
  vuln_ids: string[]
  /** The package URL of the affected package. Null if the statement is about a whole product. */
  package: string | null
  /** What contains the package: a package URL, another address, or a name. */
  product: string | null
  justification: string | null
  comment: string | null
  /** When the statement was made, as RFC 3339 in UTC. Null if the document does not tell. */
  stated_at: string | null
}

export type VexDocument = {
  /** Who makes the statements. */
  publisher: string
  /** What the documents share of which only the newest counts. Absent if that is the id. */
  series?: string
  /** The id that all versions of the document share. */
  document_id: string | null
  document_version: string | null
  /** When this version of the document was issued, as RFC 3339 in UTC. */
  issued_at: string | null
  statements: number
  skipped: number
  warnings: string[]
}

const PURL_MAX = NAME_MAX + VERSION_MAX
const ADDRESS_MAX = 1000
const IDS_MAX = 50

/** What a statement is about. At least one of both is not null. */
export type Subject = Pick<VexStatement, 'package' | 'product'>

/** The text if it is a package URL that can be stored whole. */
export function parsePurl(text: string | null): string | null {
  const purl = text?.trim() ?? ''
  return /^pkg:/i.test(purl) && purl.length <= PURL_MAX ? truncateText(purl, PURL_MAX) : null
}

/** A text that identifies a document or product; null if it is too long to be stored whole. */
export function parseAddress(text: string | null): string | null {
  return text !== null && text.length <= ADDRESS_MAX ? truncateText(text, ADDRESS_MAX) : null
}

/** The ids of a vulnerability. Of an address, only the ids that it contains are used. */
export function collectIds(texts: readonly (string | null)[]): string[] {
  const ids = texts.flatMap((text) => {
    if (text === null) return []
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? collectVulnerabilityIds([text]) : (normalizeId(text) ?? [])
  })
  return [...new Set(ids)].slice(0, IDS_MAX)
}

/** The texts that explain a statement, each once. */
export function formatComment(parts: readonly (string | null)[]): string | null {
  const texts = new Set(parts.map((part) => part?.trim() ?? '').filter((part) => part !== ''))
  return truncateText([...texts].join('\n'), COMMENT_MAX)
}

const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,12})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** A time as RFC 3339 in UTC with milliseconds; null for any other text. */
export function parseTime(text: string | null): string | null {
  if (text === null || !TIME.test(text)) return null
  const at = new Date(text)
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1970 || at.getUTCFullYear() > 9999
    ? null
    : at.toISOString()
}

export type OnStatements = (batch: VexStatement[]) => Promise<void>

const BATCH_SIZE = 500
/** The number of statements that a document may make. One entry makes one for each package. */
const STATEMENTS_MAX = 100_000

/** What is counted while the statements of a document are read. */
export type ReadStatements = Pick<VexDocument, 'statements' | 'skipped' | 'warnings'>

/** Passes the statements of a document on in batches, and counts what was read and skipped. */
export class StatementBatch {
  readonly warnings = new ReportWarnings()
  readonly entries = new EntryCount(this.warnings)
  readonly #onStatements: OnStatements
  #waiting: VexStatement[] = []
  #count = 0
  #unnamed = 0

  constructor(onStatements: OnStatements) {
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
      throw new ReportError(message)
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
    this.entries.refuseIfNoneWasRead('statements')
    if (this.#unnamed > 0) {
      const what = `Statements about products without a package URL or address: ${this.#unnamed}`
      this.warnings.add(`${what}. They do not apply to any finding.`)
    }
    const { skipped } = this.entries
    return { statements: this.#count, skipped, warnings: this.warnings.list() }
  }
}
