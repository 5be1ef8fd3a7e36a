import type { VexStatus } from '../../formats/report/vex-statement.ts'
import { toDismissal, type Verdict } from '../verdict.ts'
import type { ExportedFinding } from './export.store.ts'

/** The justifications of OpenVEX, which CSAF shares. */
export const JUSTIFICATIONS = [
  'component_not_present',
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
] as const
export type Justification = (typeof JUSTIFICATIONS)[number]

/** What is stated about a vulnerability in a package. */
export type Assessment = {
  status: VexStatus
  /** One of these two explains `not_affected`. */
  justification: Justification | null
  impact: string | null
  /** What is done about `affected`. */
  action: string | null
  notes: string | null
  is_false_positive: boolean
  will_not_fix: boolean
  at: string
}

const PLAIN = {
  justification: null,
  impact: null,
  action: null,
  notes: null,
  is_false_positive: false,
  will_not_fix: false,
}

/**
 * What a person or a document has stated about a finding; null if nobody has. The dismissal of a
 * report or a code host is a statement of theirs, and is not repeated.
 */
export function toAssessment(finding: ExportedFinding, verdict: Verdict | undefined): Assessment | null {
  const { action, source, reason, comment, at } = finding
  if (action === null || source === null || at === null) return ofOpenFinding(finding, verdict)
  if (action === 'reopen') return { ...PLAIN, status: 'under_investigation', notes: comment, at: at.toISOString() }
  if (source === 'shiplock') return { ...PLAIN, ...ofPerson(reason, comment), at: at.toISOString() }
  // A document keeps the time of its statement.
  const stated = verdict === undefined ? at : new Date(verdict.at)
  return { ...PLAIN, ...ofDocument(reason, comment), at: stated.toISOString() }
}

/** A document that states that an open finding matters. */
function ofOpenFinding({ is_dismissed }: ExportedFinding, verdict: Verdict | undefined): Assessment | null {
  if (is_dismissed || verdict === undefined || toDismissal(verdict) !== null) return null
  const { status, comment } = verdict
  const at = new Date(verdict.at).toISOString()
  if (status === 'under_investigation') return { ...PLAIN, status, notes: comment, at }
  return { ...PLAIN, status, action: comment ?? 'No action was stated.', at }
}

type Stated = Pick<Assessment, 'status'> & Partial<Assessment>

function ofDocument(reason: string | null, comment: string | null): Stated {
  if (reason === 'fixed') return { status: 'fixed', notes: comment }
  const justification = JUSTIFICATIONS.find((known) => known === reason) ?? null
  if (justification !== null) return { status: 'not_affected', justification, notes: comment }
  return { status: 'not_affected', impact: comment ?? 'The product is not affected.' }
}

/** A risk that is accepted is still one. */
function ofPerson(reason: string | null, comment: string | null): Stated {
  switch (reason) {
    case 'used_in_tests':
      return {
        status: 'not_affected',
        justification: 'vulnerable_code_not_in_execute_path',
        notes: comment ?? 'Used in tests only.',
      }
    case 'mitigated':
      return { status: 'not_affected', justification: 'inline_mitigations_already_exist', notes: comment }
    case 'wont_fix':
      return { status: 'affected', action: comment ?? 'The vulnerability will not be fixed.', will_not_fix: true }
    case 'risk_accepted':
      return { status: 'affected', action: comment ?? 'The risk was accepted.', will_not_fix: true }
    default:
      return { status: 'not_affected', impact: comment ?? 'The finding is a false positive.', is_false_positive: true }
  }
}
