import { hash } from 'node:crypto'
import { compareTexts } from '../../platform/text.ts'
import type { VexStatus } from '../formats/report/vex-statement.ts'
import type { CanonicalId } from '../issues/grouping/shared-names.ts'
import type { ExportedFinding } from './export.store.ts'
import { isAmbiguous, toComparedIds } from './statement-match.ts'
import { toDismissal, type Verdict } from './verdict.ts'

/** Statements about one vulnerability. Its own id is the first one. */
export type ExportedStatement = Assessment & { ids: string[]; packages: string[] }

/** What a document of either format says, without what only one of them has. */
export type ExportedDocument = {
  /** A UUID that does not change. */
  id: string
  version: number
  created_at: string
  changed_at: string
  author: string
  repository: { name: string; identifier: string }
  statements: ExportedStatement[]
}

/** What is known about a vulnerability in a package. */
type Place = { purl: string; ids: Set<string>; assessments: (Assessment | null)[] }

/**
 * The statements about all findings, sorted, so that equal contents are equal documents. A package
 * is left out if only some of its findings of a vulnerability were assessed: a statement about the
 * package would be one about the others, too.
 */
export function toStatements(
  findings: readonly ExportedFinding[],
  verdicts: ReadonlyMap<string, Verdict>,
  canonicalId: CanonicalId,
): ExportedStatement[] {
  const places = new Map<string, Place>()
  for (const finding of findings) {
    const names = toComparedIds(finding.vuln_ids, canonicalId).sort(byCve)
    // A finding about several vulnerabilities does not tell which of them was assessed.
    if (isAmbiguous(names)) continue
    const purl = finding.purl.trim()
    const key = JSON.stringify([names[0], purl])
    const place = places.get(key) ?? { purl, ids: new Set(names), assessments: [] }
    for (const id of toComparedIds(finding.vuln_ids)) place.ids.add(id)
    place.assessments.push(toAssessment(finding, verdicts.get(finding.id)))
    places.set(key, place)
  }
  return joined([...places.values()]).sort((a, b) => compareTexts(sortKey(a), sortKey(b)))
}

/** One statement for all packages about which the same is stated. */
function joined(places: readonly Place[]): ExportedStatement[] {
  const statements = new Map<string, ExportedStatement>()
  for (const { purl, ids, assessments } of places) {
    const assessment = selectCommonAssessment(assessments)
    if (assessment === null) continue
    const [own = '', ...aliases] = ids
    const facts = { ...assessment, ids: [own, ...aliases.sort()] }
    const key = JSON.stringify(facts)
    const statement = statements.get(key) ?? { ...facts, packages: [] }
    statement.packages.push(purl)
    statements.set(key, statement)
  }
  return [...statements.values()].map((statement) => ({ ...statement, packages: statement.packages.sort() }))
}

const CAUTION = ['affected', 'under_investigation', 'not_affected', 'fixed']

/** The most cautious assessment, of several equal ones the newest; null if one is missing. */
function selectCommonAssessment(assessments: readonly (Assessment | null)[]): Assessment | null {
  let common: Assessment | null = null
  for (const assessment of assessments) {
    if (assessment === null) return null
    const difference = common === null ? -1 : CAUTION.indexOf(assessment.status) - CAUTION.indexOf(common.status)
    if (common === null || difference < 0 || (difference === 0 && assessment.at > common.at)) common = assessment
  }
  return common
}

function byCve(a: string, b: string): number {
  return Number(b.startsWith('CVE-')) - Number(a.startsWith('CVE-')) || compareTexts(a, b)
}

function sortKey({ ids, packages, status }: ExportedStatement): string {
  return JSON.stringify([ids, packages, status])
}

/** A UUID (RFC 9562 §5.8) that these texts always have. */
export function computeUuid(...texts: string[]): string {
  const hex = hash('sha256', JSON.stringify(texts), 'hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

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
type Assessment = {
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
function toAssessment(finding: ExportedFinding, verdict: Verdict | undefined): Assessment | null {
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
