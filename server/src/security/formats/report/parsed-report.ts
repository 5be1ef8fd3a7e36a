import type { FindingKind } from '../../vocabulary/finding-kind.ts'
import type { Severity } from '../../vocabulary/severity.ts'

/** What every parser of security reports returns, in whichever format the report was written. */

export const REPORT_FORMATS = ['sarif', 'cyclonedx', 'spdx'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** Where a report's bytes come from. `open` may be called more than once and starts at the first byte each time. */
export type ReportSource = {
  open(): AsyncIterable<Uint8Array>
  /** Aborted when reading must end at once. */
  stopping?: AbortSignal
}

/** One finding as a report states it. Strings are bounded, and free of NUL and lone surrogates. */
export type ParsedFinding = {
  tool: string
  tool_version: string | null
  kind: FindingKind
  type: string | null
  severity: Severity
  state: 'open' | 'dismissed'
  dismiss_reason: string | null
  dismiss_comment: string | null
  title: string
  description: string | null
  native_url: string | null
  path: string | null
  start_line: number | null
  end_line: number | null
  package_name: string | null
  package_version: string | null
  fixed_version: string | null
  purl: string | null
  vuln_ids: string[]
  cwes: string[]
  rule_id: string | null
  secret_type: string | null
  resource_name: string | null
  scanner_score: number | null
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
  /** 32 bytes in hex. Equal findings of one report have equal fingerprints: each is handed out. */
  fingerprint: string
  fingerprint_method: string
  /**
   * 32 bytes in hex by which the finding is recognized where its place is all that changed: another file, or other lines in
   * its text. Absent or null where nothing but the fingerprint identifies it.
   */
  relocation?: string | null
  /**
   * The flagged text without its white space: what other scanners flag as well. Of a secret it is the secret itself, so it is
   * never stored, only its keyed hash.
   */
  context: string | null
}

export type ReportTool = {
  name: string
  version: string | null
  /** How many rules it names: those that it declares or that its results name, whichever is more; of a bill of materials how many vulnerabilities. */
  rules?: number
  /** Why findings that the report does not hold may still be there, as a sentence; absent where the tool said all it had to say. */
  incomplete?: string
}

export type ReportSummary = {
  /** Every tool that the report speaks for, those without results included: such a report closes its tool's findings. */
  tools: ReportTool[]
  findings: number
  components: number
  skipped: number
  truncated: boolean
  warnings: string[]
  category: string | null
}

/** The report cannot be read. The message is safe to show to whoever sent it; `format` is what was detected, if anything. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
  readonly format: ReportFormat | null

  constructor(message: string, format: ReportFormat | null = null) {
    super(message)
    this.format = format
  }
}
