import { type JsonObject, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, COMMENT_MAX } from '../../vocabulary/bounded-text.ts'
import { type Component, type Dismissal, dependencyFinding, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import type { CycloneDxDocument } from './read-document.ts'
import { readVulnerability } from './vulnerability.ts'

const UNAFFECTED: Dismissal = { reason: 'not_affected', comment: 'The report lists this version as unaffected.' }

type Document = Pick<CycloneDxDocument, 'tool' | 'affected'>

/**
 * The findings of a vulnerability: one per affected component, or one without a component if it
 * lists none. Null if the vulnerability has neither an id nor a description.
 */
export function readFindings({ tool, affected: components }: Document, member: JsonObject): ParsedFinding[] | null {
  const vulnerability = readVulnerability(member)
  if (vulnerability === null) return null
  const dismissal = dismissalByAnalysis(member)
  const recommendation = textOf(member.recommendation)
  const finding = (component: Component, affected: Affected | null) =>
    dependencyFinding({
      tool,
      vulnerability,
      component,
      fixedVersion: fixedVersionIn(recommendation, component.name),
      dismissal: dismissal ?? (affected !== null && isUnaffected(affected, component.version) ? UNAFFECTED : null),
    })
  const affected = affectedComponents(member)
  if (affected.length === 0) return [finding(UNKNOWN_COMPONENT, null)]
  return affected.map((entry) => finding(components.resolve(entry.ref), entry))
}

/** The VEX states that dismiss a finding. All other states leave it open. */
const DISMISSING_STATES = new Set(['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree'])

function dismissalByAnalysis(vulnerability: JsonObject): Dismissal | null {
  const analysis = objectOf(vulnerability.analysis)
  const state = textOf(analysis?.state)
  if (analysis === null || state === null || !DISMISSING_STATES.has(state)) return null
  const response = textsOf(analysis.response).join(', ')
  const parts = [
    textOf(analysis.justification),
    textOf(analysis.detail),
    response === '' ? null : `Response: ${response}`,
  ]
  return { reason: state, comment: boundedText(parts.filter((part) => part !== null).join('\n'), COMMENT_MAX) }
}

/** A reference to an affected component, and the statements about its versions. */
type Affected = { ref: string; versions: JsonObject[] }

/** The affected components, each once. Some tools write one entry per version of a component. */
export function affectedComponents(vulnerability: JsonObject): Affected[] {
  const byRef = new Map<string, Affected>()
  for (const entry of objectsOf(vulnerability.affects)) {
    const ref = textOf(entry.ref)
    if (ref === null) continue
    const known = byRef.get(ref)
    if (known === undefined) byRef.set(ref, { ref, versions: objectsOf(entry.versions) })
    else known.versions.push(...objectsOf(entry.versions))
  }
  return [...byRef.values()]
}

/**
 * True if the report states that this version of the component is unaffected. If the version is
 * unknown, all stated versions must be unaffected. Other unaffected versions are those with the
 * fix, and ranges are not evaluated: an error there would hide a vulnerability.
 */
export function isUnaffected({ versions }: Affected, componentVersion: string | null): boolean {
  const relevant =
    componentVersion === null ? versions : versions.filter(({ version }) => textOf(version) === componentVersion)
  return relevant.length > 0 && relevant.every(({ status }) => status === 'unaffected')
}

const RECOMMENDATION_READ_MAX = 4000
const CLAUSES_MAX = 50

/** `to version 3.4.0`, `to 2.4.9 or later`, `to version 2.6.7, 2.8.11 or higher`. */
const VERSIONS =
  /\b(?:to|in|>=)\s(?:at least\s)?(version\s|versions\s)?v?(\d[\w.+:~-]{0,80}(?:(?:, ?(?:or )?| or )v?\d[\w.+:~-]{0,80}){0,9})/i
const ONLY_VERSION = /^v?(\d[\w.+:~-]{0,80})$/

/**
 * The versions to which a recommendation advises to upgrade; null if it is not clear. Trivy writes
 * one clause for each vulnerable package, of which the one that names this package counts.
 */
export function fixedVersionIn(recommendation: string | null, packageName: string | null): string | null {
  const text = recommendation?.slice(0, RECOMMENDATION_READ_MAX).trim() ?? ''
  const only = ONLY_VERSION.exec(text)?.[1]
  if (only !== undefined) return withoutFullStop(only)
  const clauses = text.split(/;\s|\n/, CLAUSES_MAX).filter((clause) => versionsIn(clause) !== null)
  const own = clauses.find((clause) => packageName !== null && names(clause, packageName))
  const clause = own ?? (clauses.length === 1 ? clauses[0] : undefined)
  return clause === undefined ? null : versionsIn(clause)
}

/**
 * A number without a dot is a version only after the word "version": not in "Upgrade to 64-bit".
 */
function versionsIn(clause: string): string | null {
  const [, word, versions = ''] = VERSIONS.exec(clause) ?? []
  const isVersion = versions.includes('.') || (word !== undefined && versions !== '')
  return isVersion ? withoutFullStop(versions) : null
}

function names(clause: string, packageName: string): boolean {
  const [last = packageName] = packageName.split('/').slice(-1)
  return clause.split(/[\s:,]+/).some((word) => word === packageName || word === last)
}

function withoutFullStop(versions: string): string {
  return versions.replace(/[.:~-]{1,5}$/, '')
}
