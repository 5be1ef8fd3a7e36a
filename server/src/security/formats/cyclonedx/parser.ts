import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { COMMENT_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import type { ReadRepository } from '../report/checkout.ts'
import {
  type Component,
  createDependencyFinding,
  type Dismissal,
  UNKNOWN_COMPONENT,
} from '../report/dependency-finding.ts'
import type { ParsedFinding, ReportSource, ReportSummary } from '../report/parsed-report.ts'
import { EntryCount, FindingBatch, type OnFindings, ReportWarnings } from '../report/report-reading.ts'
import { readComponents } from './read-components.ts'
import { type CycloneDxDocument, readDocument } from './read-document.ts'
import { readVulnerability } from './vulnerability.ts'

const VULNERABILITIES = 'vulnerabilities[*]'

/** Members of a vulnerability that can be long and that findings do not need. */
const UNREAD_MEMBERS = ['credits', 'tools', 'properties', 'proofOfConcept', 'workaround']

const SELECTION = createSelectionTree([VULNERABILITIES], { [VULNERABILITIES]: UNREAD_MEMBERS })

/**
 * Reads a CycloneDX 1.x document of any size in up to three passes: first its header and the
 * references of its vulnerabilities, then the components they refer to, then the vulnerabilities. A
 * document without vulnerabilities needs only the first pass. Throws ReportError if the file is not
 * a supported CycloneDX document, JsonError if it is not JSON.
 */
export async function parseCycloneDx(
  source: ReportSource,
  onFindings: OnFindings,
  readRepository: ReadRepository,
): Promise<ReportSummary> {
  const warnings = new ReportWarnings()
  const document = await readDocument(source, warnings)
  if (document.hasVulnerabilities) await readComponents(source, document.affected, warnings)
  if (document.affected.paths.absolute.size > 0) document.affected.setCheckout(await readRepository())
  const reader = new VulnerabilityReader(document, warnings, onFindings)
  if (document.vulnerabilities > 0) await readVulnerabilities(source, reader)
  await reader.batch.flush()
  if (document.components === 0) reader.entries.refuseIfNoneWasRead('vulnerabilities')
  // A document without a list of vulnerabilities, or without a readable one, closes no findings.
  const hasStatement = document.hasVulnerabilities && !reader.entries.isUnread
  return {
    tools: hasStatement ? [{ ...document.tool, components: document.affected.listed }] : [],
    findings: reader.batch.count,
    components: document.components,
    skipped: reader.entries.skipped,
    truncated: reader.batch.isTruncated,
    warnings: warnings.list(),
    category: null,
  }
}

async function readVulnerabilities(source: ReportSource, reader: VulnerabilityReader): Promise<void> {
  for await (const selected of selectJson(source.open(), SELECTION)) {
    for (const vulnerability of selected) reader.read(vulnerability)
    await reader.batch.flushFull()
    if (reader.batch.isTruncated) break
  }
}

class VulnerabilityReader {
  readonly batch: FindingBatch
  readonly entries: EntryCount
  readonly #document: CycloneDxDocument

  constructor(document: CycloneDxDocument, warnings: ReportWarnings, onFindings: OnFindings) {
    this.#document = document
    this.entries = new EntryCount(warnings)
    this.batch = new FindingBatch(onFindings)
  }

  read({ keys, value, isOversize }: SelectedValue): void {
    if (this.batch.isTruncated) return
    const vulnerability = toObject(value)
    const findings = vulnerability === null ? null : readFindings(this.#document, vulnerability)
    if (findings === null) {
      const unread = vulnerability === null ? 'is not an object' : 'has neither an id nor a description'
      const reason = isOversize ? 'is too large' : unread
      this.entries.addSkipped(`Vulnerability ${Number(keys[0]) + 1} ${reason}`)
      return
    }
    this.entries.addRead()
    for (const finding of findings) this.batch.add(finding)
  }
}

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
  const recommendation = toText(member.recommendation)
  const finding = (component: Component, affected: Affected | null) =>
    createDependencyFinding({
      tool,
      vulnerability,
      component,
      fixedVersion: parseFixedVersion(recommendation, component.name),
      dismissal: dismissal ?? (affected !== null && isUnaffected(affected, component.version) ? UNAFFECTED : null),
    })
  const affected = listAffected(member)
  if (affected.length === 0) return [finding(UNKNOWN_COMPONENT, null)]
  return affected.map((entry) => finding(components.resolve(entry.ref), entry))
}

/** The VEX states that dismiss a finding. All other states leave it open. */
const DISMISSING_STATES = new Set(['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree'])

function dismissalByAnalysis(vulnerability: JsonObject): Dismissal | null {
  const analysis = toObject(vulnerability.analysis)
  const state = toText(analysis?.state)
  if (analysis === null || state === null || !DISMISSING_STATES.has(state)) return null
  const parts = [toText(analysis.justification), ...explainAnalysis(analysis)]
  return { reason: state, comment: truncateText(parts.filter((part) => part !== null).join('\n'), COMMENT_MAX) }
}

/** The texts of an analysis beside its state and justification. */
export function explainAnalysis(analysis: JsonObject): (string | null)[] {
  const response = toTexts(analysis.response).join(', ')
  return [toText(analysis.detail), response === '' ? null : `Response: ${response}`]
}

/** A reference to an affected component, and the statements about its versions. */
type Affected = { ref: string; versions: JsonObject[] }

/** The affected components, each once. Some tools write one entry per version of a component. */
export function listAffected(vulnerability: JsonObject): Affected[] {
  const byRef = new Map<string, Affected>()
  for (const entry of toObjects(vulnerability.affects)) {
    const ref = toText(entry.ref)
    if (ref === null) continue
    const earlier = byRef.get(ref)
    if (earlier === undefined) byRef.set(ref, { ref, versions: toObjects(entry.versions) })
    else earlier.versions.push(...toObjects(entry.versions))
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
    componentVersion === null ? versions : versions.filter(({ version }) => toText(version) === componentVersion)
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
export function parseFixedVersion(recommendation: string | null, packageName: string | null): string | null {
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
