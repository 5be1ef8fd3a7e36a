import type { Checks } from '../checks.ts'
import type { Statement } from '../statement.ts'
import { CHANGE_RECORD, changeRecord } from './change-record.ts'
import { promotionPath } from './promotion-path.ts'
import { verificationSummary } from './verification-summary.ts'

/** What the program knows about the statements of one predicate type. */
type PredicateKind = {
  /** With an article: `a change record`. */
  what: string
  check(checks: Checks, statement: Statement): Promise<void>
  /** What the statement says, in plain words. Throws `Refused` for a predicate of another form. */
  describe(statement: Statement): string[]
}

export const PREDICATE_KINDS: Record<string, PredicateKind | undefined> = {
  [CHANGE_RECORD]: changeRecord,
  'https://shiplock.dev/promotion-path/v1': promotionPath,
  'https://slsa.dev/verification_summary/v1': verificationSummary,
}
