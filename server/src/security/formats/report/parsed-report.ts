import { hash } from 'node:crypto'
import type { FindingKind } from '../../vocabulary/finding.ts'
import type { Severity } from '../../vocabulary/severity.ts'
import type { ListedComponents } from './listed-components.ts'

/** The bytes of a report. Each call of `open` starts at the first byte. */
export type ReportSource = {
  open(): AsyncIterable<Uint8Array>
  /** Aborted when reading must end at once. */
  stopping?: AbortSignal
}

/** A finding as a report states it. Its texts are bounded, without NUL and lone surrogates. */
export type ParsedFinding = {
  tool: string
  /** What the run of the tool was about, if that is not the repository as a whole. */
  subject?: string | null
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
  /** Columns count from 1. `end_column` is the column after the last character, as in SARIF. */
  start_column: number | null
  end_column: number | null
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
  /** 32 bytes in hex. Equal findings of a report have equal fingerprints. */
  fingerprint: string
  fingerprint_method: string
  /**
   * 32 bytes in hex that identify the finding after it moved to another file or line. Absent or
   * null if only the fingerprint identifies it.
   */
  relocation?: string | null
  /** At most 32 bytes in hex. Similar flagged texts have similar values. Null for secrets. */
  similarity: string | null
  /** Its identity under ids that its rule had before. Absent if the rule had no others. */
  earlier?: readonly EarlierIdentity[]
  /**
   * The flagged code without white space, by which findings of other scanners are matched. For a
   * secret this is the secret itself, so only its keyed hash is stored.
   */
  context: string | null
}

export type EarlierIdentity = { rule_id: string; fingerprint: string }

export type ReportTool = {
  name: string
  /** True if the document names no tool. */
  isUnnamed?: boolean
  /** The image or project that the findings are about; absent or null if the report names none. */
  subject?: string | null
  /** The digests of the image that the findings are about. Absent if the report states none. */
  digests?: readonly string[]
  version: string | null
  /** Why the report is cut, as a sentence. Absent if it is whole. */
  incomplete?: string
  /** True if none of its runs has results: it scanned nothing, and is no report of a new tool. */
  isUnscanned?: boolean
  /**
   * What the report states of failures of the tool, as phrases that its next report repeats if they
   * are normal. Absent if it states none.
   */
  failures?: string[]
  /**
   * Paths of files that the tool could not scan, and rules that it could not run. The report does
   * not close their findings. Absent if there are none.
   */
  unscanned?: string[]
  unrunRules?: string[]
  /** What the report lists beside its results. Absent if it lists neither files nor rules. */
  scope?: ReportedScope
  /** The components of a bill of materials. Absent for other reports. */
  components?: ListedComponents
  /** Fingerprints of results that the tool states to be gone. Absent if there are none. */
  gone?: ReadonlySet<string>
}

/** Files and rules that a report lists: how many of them without results, and which. */
export type ReportedScope = {
  files: number
  rules: number
  hasFile(path: string): boolean
  hasRule(ruleId: string): boolean
}

export type ReportSummary = {
  /**
   * The tools whose findings the report lists. A tool without findings is listed, too: all are
   * fixed.
   */
  tools: ReportTool[]
  findings: number
  components: number
  skipped: number
  truncated: boolean
  warnings: string[]
  category: string | null
}

/** The name of a tool and its subject, by which findings of a report belong to its streams. */
export function formatReportedTool(tool: string, subject: string | null | undefined): string {
  return subject == null ? tool : `${tool}\n${subject}`
}

/** The report cannot be read. The message is meant for its sender. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
  /** The detected format, as the catalogue names it. Parsers leave it out. */
  readonly format: string | null

  constructor(message: string, format: string | null = null) {
    super(message)
    this.format = format
  }
}

/** What identifies a finding in the next report. */
export type Identity = {
  fingerprint: string
  fingerprint_method: string
  /** The fingerprint without the path, by which a finding is recognized in another file. */
  relocation: string | null
}

/**
 * The SHA-256 of these parts, in hex. A part that is null differs from an empty one, and no two
 * methods give the same fingerprint.
 */
export function hashFingerprint(method: string, parts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify([method, ...parts]), 'hex')
}

/** The identity of a finding that these parts identify within its file only. */
export function computeFileIdentity(method: string, path: string | null, parts: (string | null)[]): Identity {
  const anywhere = hashFingerprint(method, parts)
  return {
    fingerprint: hash('sha256', anywhere + (path ?? ''), 'hex'),
    fingerprint_method: method,
    relocation: path === null ? null : anywhere,
  }
}

/**
 * The identity of a vulnerability in a package, which is the same for all versions of the package.
 */
export function computeDependencyIdentity(
  packageIdentity: string | null,
  vulnerabilityId: string | null,
  path: string | null,
): Identity {
  return computeFileIdentity('dependency', path, [packageIdentity, vulnerabilityId])
}
