import { hash } from 'node:crypto'
import type { CopyValue } from '../platform/db/copy-rows.ts'
import type { ParsedFinding } from './parsers/parsed-report.ts'

/** What a report may change of a finding that is stored already, in the order of the columns. */
const CONTENT = [
  'kind',
  'type',
  'severity',
  'state',
  'dismiss_reason',
  'dismiss_comment',
  'title',
  'description',
  'native_url',
  'path',
  'start_line',
  'end_line',
  'package_name',
  'package_version',
  'fixed_version',
  'purl',
  'vuln_ids',
  'cwes',
  'rule_id',
  'secret_type',
  'resource_name',
  'scanner_score',
  'cvss_version',
  'cvss_score',
  'cvss_vector',
] as const satisfies (keyof ParsedFinding)[]

/** Columns of the temporary table that a report is copied into. */
export const INCOMING_COLUMNS = [
  'id',
  'position',
  'tool',
  'fingerprint',
  'fingerprint_method',
  'relocation',
  'content_hash',
  ...CONTENT,
] as const

/** Makes rows of a report's findings, one after the other. */
export class IncomingFindings {
  #position = 0
  readonly #newId: (position: number) => string

  constructor(newId: (position: number) => string) {
    this.#newId = newId
  }

  toRow(finding: ParsedFinding): CopyValue[] {
    const content = CONTENT.map((column) => finding[column])
    const position = this.#position++
    return [
      this.#newId(position),
      position,
      finding.tool,
      Buffer.from(finding.fingerprint, 'hex'),
      finding.fingerprint_method,
      relocationHash(finding.relocation ?? null),
      contentHash(content),
      ...content,
    ]
  }
}

/** Enough where findings of one stream are compared with one another. */
const SHORT_HASH_BYTES = 16

function contentHash(content: unknown[]): Buffer {
  return hash('sha256', JSON.stringify(content), 'buffer').subarray(0, SHORT_HASH_BYTES)
}

function relocationHash(hex: string | null): Buffer | null {
  return hex === null ? null : Buffer.from(hex, 'hex').subarray(0, SHORT_HASH_BYTES)
}
