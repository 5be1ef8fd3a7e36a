import type { FindingKind } from '../../vocabulary/finding-kind.ts'

/** What of a finding decides with which others it is one issue. */
export type GroupingFacts = {
  kind: FindingKind
  path: string | null
  start_line: number | null
  end_line: number | null
  package_name: string | null
  purl: string | null
  vuln_ids: readonly string[]
  cwes: readonly string[]
  rule_id: string | null
  secret_type: string | null
  resource_name: string | null
  /**
   * Hex. Equal where one scanner says the same again, of another branch or in another category. Null where it is made of rule, file
   * and message alone, or of a secret's commit: then equal ones at other lines are other findings.
   */
  fingerprint: string | null
  /** Hex: a keyed hash of the flagged text. */
  context: string | null
}

export const GROUPING_CODES = [
  'same_vulnerability',
  'same_secret',
  'same_fingerprint',
  'same_location',
  'single',
] as const

/** In the order in which the rules are asked: the first that holds is a finding's reason. */
export type GroupingCode = (typeof GROUPING_CODES)[number]

/** Why a finding belongs to its issue. `detail` is a sentence; null where it stands alone, for which there is only one. */
export type GroupingReason = { code: GroupingCode; detail: string | null }

export const ALONE_DETAIL = 'No other finding of the repository is the same.'
export const ALONE: GroupingReason = { code: 'single', detail: null }
