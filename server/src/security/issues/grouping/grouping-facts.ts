import { hash, type KeyObject } from 'node:crypto'
import type { FindingKind, GroupingCode } from '../../vocabulary/finding.ts'
import { OTHER_LOCATIONS } from '../../vocabulary/message-marks.ts'
import type { Severity } from '../../vocabulary/severity.ts'

/** The fields of a finding that decide which other findings belong to the same issue. */
export type GroupingFacts = {
  kind: FindingKind
  /** The name of the scanner, as in its report. */
  tool: string
  /** The scanner's reports of one branch and category. It lists a finding in each only once. */
  stream_id: number
  /** True for an alert of a code host, which states neither the fingerprint nor the code. */
  is_alert: boolean
  path: string | null
  start_line: number | null
  end_line: number | null
  start_column: number | null
  end_column: number | null
  package_name: string | null
  purl: string | null
  vuln_ids: readonly string[]
  cwes: readonly string[]
  rule_id: string | null
  /** The beginning of the message, if the scanner has rules that say too little without it. */
  message: string | null
  secret_type: string | null
  resource_name: string | null
  /**
   * Hex. Equal if a scanner reports the finding again, for another branch or in another category.
   * Null if it is made of rule, file and message alone, or of a secret's commit: equal ones on
   * other lines are then different findings.
   */
  fingerprint: string | null
  /** Hex: a keyed hash of the flagged text. */
  context: string | null
  /** Hex: a hash of the message; null if a vulnerability says what the finding is. */
  told: string | null
}

/** A finding that is grouped: one that is stored, or a new one of a report. */
export type Member = GroupingFacts & {
  /** Ids sort by age. Null before the finding is stored. */
  id: string | null
  issue_id: string | null
  bucket: string
  /**
   * The finding's position in the report; null if the report does not contain it or does not change
   * it.
   */
  position: number | null
  /** The stored reason. */
  grouping_code: GroupingCode | null
  grouping_detail: string | null
  severity: Severity
  is_open: boolean
  is_tracked: boolean
}

/**
 * Scanners with rules that say too little without the message: one that runs other linters, and two
 * with rules that check several things.
 */
export const SPEAKING_TOOLS = ['golangci', 'kube-linter', 'kubelinter', 'kube-score']
export const MESSAGE_MAX = 80

/** `GroupingFacts.message`. `buildMemberColumns` has the same rule for stored findings. */
export function getRuleMessage(tool: string, message: string | null): string | null {
  const name = tool.toLowerCase()
  return SPEAKING_TOOLS.some((known) => name.startsWith(known)) ? (message?.slice(0, MESSAGE_MAX) ?? null) : null
}

const TOLD_BYTES = 8

/** `GroupingFacts.told`. `buildMemberColumns` has the same rule for stored findings. */
export function computeTold(description: string | null, vulnIds: readonly string[]): string | null {
  if (description === null || vulnIds.length > 0) return null
  return hash('sha256', description.split(OTHER_LOCATIONS, 1)[0] ?? '', 'buffer').toString('hex', 0, TOLD_BYTES)
}

/** Hashes a flagged text to hex. */
export type ContextHash = (context: string) => string

const CONTEXT_BYTES = 16

/**
 * Hashes flagged texts with a key, so that equal texts can be found but not read: a text may be a
 * secret, and a short secret could be guessed from a plain hash. The key comes first and has a
 * fixed length. Only half of the hash is kept, so that the hash of a longer text cannot be derived
 * from it.
 */
export function createContextHasher(key: KeyObject): ContextHash {
  const prefix = key.export().toString('hex')
  return (context) => hash('sha256', prefix + context, 'buffer').toString('hex', 0, CONTEXT_BYTES)
}
