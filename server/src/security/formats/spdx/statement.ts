import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, COMMENT_MAX } from '../../vocabulary/bounded-text.ts'
import type { Dismissal } from '../report/dependency-finding.ts'
import { classOf, property, referencesOf } from './element.ts'

/**
 * The VEX statuses by increasing caution. Between equal statements the more cautious one counts.
 */
const STATUSES = ['fixed', 'not_affected', 'under_investigation', 'affected'] as const
type Status = (typeof STATUSES)[number]

/** A statement about one vulnerability in one package. */
export type Statement = {
  status: Status
  /** False for a plain association, which every VEX statement outweighs. */
  isVex: boolean
  vexVersion: number[]
  /** Milliseconds since 1970; 0 if the statement has no time. */
  timeMs: number
  dismissal: Dismissal | null
}

/** One statement about each of these vulnerabilities in each of these packages. */
export type Statements = { vulnerabilities: string[]; packages: string[]; statement: Statement }

const STATUS_OF_CLASS = new Map<string, Status>([
  ['VexAffectedVulnAssessmentRelationship', 'affected'],
  ['VexUnderInvestigationVulnAssessmentRelationship', 'under_investigation'],
  ['VexNotAffectedVulnAssessmentRelationship', 'not_affected'],
  ['VexFixedVulnAssessmentRelationship', 'fixed'],
])

/** The statements of a relationship; null if it is about something else or was withdrawn. */
export function statementsOf(element: JsonObject): Statements | null {
  if (property(element, 'withdrawnTime') !== undefined) return null
  const status = STATUS_OF_CLASS.get(classOf(element))
  if (status !== undefined) return vexStatements(element, status)
  if (element.relationshipType !== 'hasAssociatedVulnerability') return null
  return association(referencesOf(element.to), referencesOf(element.from))
}

/** The vulnerable packages are the assessed elements, else the targets of the relationship. */
function vexStatements(element: JsonObject, status: Status): Statements {
  const assessed = referencesOf(property(element, 'assessedElement'))
  return {
    vulnerabilities: referencesOf(element.from),
    packages: assessed.length > 0 ? assessed : referencesOf(element.to),
    statement: {
      status,
      isVex: true,
      vexVersion: versionParts(property(element, 'vexVersion')),
      timeMs: timeOf(property(element, 'modifiedTime')) || timeOf(property(element, 'publishedTime')),
      dismissal: status === 'not_affected' ? dismissalOf(element) : null,
    },
  }
}

const ASSOCIATED: Statement = { status: 'affected', isVex: false, vexVersion: [], timeMs: 0, dismissal: null }

/** States that packages have vulnerabilities, without an assessment. */
export function association(vulnerabilities: string[], packages: string[]): Statements {
  return { vulnerabilities, packages, statement: ASSOCIATED }
}

function dismissalOf(element: JsonObject): Dismissal {
  const reasons = ['justificationType', 'impactStatement', 'statusNotes'].map((name) => textOf(property(element, name)))
  return {
    reason: 'not_affected',
    comment: boundedText(reasons.filter((text) => text !== null).join('\n'), COMMENT_MAX),
  }
}

function timeOf(time: unknown): number {
  return Date.parse(textOf(time)?.slice(0, 50) ?? '') || 0
}

function versionParts(version: unknown): number[] {
  const text = textOf(version)?.slice(0, 50).trim() ?? ''
  return /^\d{1,9}(?:\.\d{1,9}){0,5}$/.test(text) ? text.split('.').map(Number) : []
}

/**
 * True if statement `a` counts rather than `b`, on the same vulnerability in the same package. VEX
 * counts before an association, then the newer statement, then the more cautious one.
 */
export function outweighs(a: Statement, b: Statement): boolean {
  const order =
    Number(a.isVex) - Number(b.isVex) ||
    compareVersions(a.vexVersion, b.vexVersion) ||
    a.timeMs - b.timeMs ||
    STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status)
  return order > 0
}

function compareVersions(a: number[], b: number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? -1) - (b[part] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}
