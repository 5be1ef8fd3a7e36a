import { hash } from 'node:crypto'
import { copyBytes, copyField } from '../../platform/db/copy-text.ts'
import type { ParsedFinding } from '../formats/report/parsed-report.ts'
import type { AddedMember } from './report-members.ts'

/** The columns of a stored finding that a later report can change. */
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

/** The columns of the temporary table `incoming`. */
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

/** 16 bytes are enough to compare the findings of one stream. */
const SHORT_HASH_HEX = 32

/** A finding as a line in PostgreSQL's COPY text format. */
export function incomingLine(finding: ParsedFinding, { position, context }: AddedMember): string {
  let content = ''
  // Appending to a string is faster here than joining an array.
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
