import { hash } from 'node:crypto'
import { copyBytes, copyField } from '../../platform/db/copy-text.ts'
import type { ParsedFinding } from '../formats/report/parsed-report.ts'

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
  'position',
  'tool',
  'fingerprint',
  'fingerprint_method',
  'relocation',
  'context',
  'content_hash',
  ...CONTENT,
] as const

/** The finding at a position of its report as a line of COPY text; `context` as hex. */
export function incomingLine(finding: ParsedFinding, position: number, context: string | null): string {
  let content = ''
  // One text that grows costs less here than a list that is joined.
  for (const column of CONTENT) content += `\t${copyField(finding[column])}`
  const fields = [
    position,
    copyField(finding.tool),
    copyBytes(finding.fingerprint),
    finding.fingerprint_method,
    copyBytes(finding.relocation?.slice(0, SHORT_HASH_HEX) ?? null),
    copyBytes(context),
    copyBytes(hash('sha256', content, 'hex').slice(0, SHORT_HASH_HEX)),
  ]
  return fields.join('\t') + content
}

/** Enough where findings of one stream are compared with one another. */
const SHORT_HASH_HEX = 32
