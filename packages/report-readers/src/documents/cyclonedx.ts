import type { FoundFile } from '../found-file.ts'
import { type JsonObject, objectOf, objectsOf, textOf } from './json-value.ts'
import type { ScanFindings } from './sarif.ts'
import { type Selected, selectJson } from './select-json.ts'
import {
  type AnySeverity,
  type CvssVersion,
  cvssOf,
  noFindings,
  SEVERITIES,
  scoreOf,
  severityInWords,
  severityOfScore,
} from './severity.ts'

/** Counts the components of a CycloneDX document, nested ones included, without its subject. */
export async function countComponents(file: FoundFile): Promise<number> {
  let count = 0
  for await (const { value } of selectJson(file, ['components[]'])) count += componentsIn(value)
  return count
}

function componentsIn(value: unknown): number {
  const component = objectOf(value)
  if (component === null) return 0
  return objectsOf(component.components).reduce((count, nested) => count + componentsIn(nested), 1)
}

const DOCUMENT = [
  'serialNumber',
  'metadata.tools',
  'metadata.component',
  'components[]',
  'services[]',
  'vulnerabilities:type',
]
const VULNERABILITY = 'vulnerabilities[]'

/**
 * Counts the open findings of a CycloneDX document: one for each affected component of a
 * vulnerability, or one without components. The severities are those of the server. Returns null if
 * the document has no list of vulnerabilities, so that it is no scan.
 */
export async function readCycloneDx(file: FoundFile): Promise<ScanFindings | null> {
  const document = new CycloneDxDocument()
  for await (const selected of selectJson(file, DOCUMENT)) document.read(selected)
  if (!document.hasVulnerabilities) return null
  const counts = noFindings()
  for await (const { value } of selectJson(file, [VULNERABILITY])) {
    const vulnerability = objectOf(value)
    if (vulnerability === null || !isNamed(vulnerability)) continue
    const severity = severityOf(vulnerability)
    if (severity !== 'info') counts[severity] += openFindings(vulnerability, document)
  }
  return { tools: [document.tool ?? 'CycloneDX'], counts }
}

class CycloneDxDocument {
  hasVulnerabilities = false
  tool: string | null = null
  readonly #versions = new Map<string, string | null>()
  #serialNumber: string | null = null

  read({ path, value }: Selected): void {
    if (path === 'vulnerabilities:type') this.hasVulnerabilities ||= value === 'array'
    else if (path === 'serialNumber')
      this.#serialNumber =
        textOf(value)
          ?.toLowerCase()
          .replace(/^urn:uuid:/, '') ?? null
    else if (path === 'metadata.tools') this.tool = toolIn(value)
    else this.#addComponent(objectOf(value))
  }

  /** The version of the component with this `bom-ref`, in this document or by its package URL. */
  versionOf(ref: string): string | null {
    const [, serial = null, linked = ref] = /^urn:cdx:([0-9a-f-]{36})\/\d{1,10}#(.+)$/is.exec(ref) ?? []
    const isOwn = serial === null || serial.toLowerCase() === this.#serialNumber
    return (isOwn ? this.#versions.get(linked) : undefined) ?? versionOfPurl(linked)
  }

  #addComponent(component: JsonObject | null): void {
    if (component === null) return
    const ref = textOf(component['bom-ref'])
    const version = textOf(component.version) ?? versionOfPurl(textOf(component.purl))
    if (ref !== null && !this.#versions.has(ref)) this.#versions.set(ref, version)
    for (const nested of objectsOf(component.components)) this.#addComponent(nested)
    for (const nested of objectsOf(component.services)) this.#addComponent(nested)
  }
}

/** `metadata.tools` is a list up to version 1.4, and an object of components and services since. */
function toolIn(value: unknown): string | null {
  const object = objectOf(value)
  const tools = object === null ? objectsOf(value) : [...objectsOf(object.components), ...objectsOf(object.services)]
  return tools.map(({ name }) => textOf(name)).find((name) => name !== null) ?? null
}

function versionOfPurl(purl: string | null): string | null {
  const [, version] = /^pkg:[^?#]+@([^@/?#]+)/i.exec(purl ?? '') ?? []
  return version === undefined ? null : decodeURIComponentSafely(version)
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isNamed({ id, references, description, detail }: JsonObject): boolean {
  const ids = [id, ...objectsOf(references).map((reference) => reference.id), description, detail]
  return ids.some((text) => textOf(text) !== null)
}

/** The states of an analysis that dismiss a finding. */
const DISMISSING_STATES = new Set<unknown>(['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree'])

function openFindings(vulnerability: JsonObject, document: CycloneDxDocument): number {
  if (DISMISSING_STATES.has(objectOf(vulnerability.analysis)?.state)) return 0
  const versions = new Map<string, JsonObject[]>()
  for (const entry of objectsOf(vulnerability.affects)) {
    const ref = textOf(entry.ref)
    if (ref !== null) versions.set(ref, [...(versions.get(ref) ?? []), ...objectsOf(entry.versions)])
  }
  if (versions.size === 0) return 1
  return [...versions].filter(([ref, stated]) => !isUnaffected(stated, document.versionOf(ref))).length
}

/** True if the document states that this version of the component is unaffected. */
function isUnaffected(stated: JsonObject[], own: string | null): boolean {
  const relevant = own === null ? stated : stated.filter(({ version }) => version === own)
  return relevant.length > 0 && relevant.every(({ status }) => status === 'unaffected')
}

const VERSION_OF_METHOD = new Map<unknown, CvssVersion>([
  ['CVSSv4', '4.0'],
  ['CVSSv31', '3.1'],
  ['CVSSv3', '3.0'],
  ['CVSSv2', '2.0'],
])
/** CVSS versions by decreasing trust. A rating without CVSS comes last. */
const VERSION_ORDER: (CvssVersion | null)[] = ['4.0', '3.1', '3.0', '2.0', null]
/** Sources whose ratings state how likely an attack is. */
const NOT_SEVERITY = /epss|kev|exploited/i
const RATINGS_MAX = 100

type Rating = { isOwn: boolean; version: CvssVersion | null; severity: AnySeverity | null; score: number | null }

/**
 * The severity by the most trusted rating: that of the vulnerability's own source, else the newest
 * CVSS version, else the worst. Without ratings it is `medium`, because it may be serious.
 */
function severityOf(vulnerability: JsonObject): AnySeverity {
  const source = sourceOf(vulnerability)
  const ratings = objectsOf(vulnerability.ratings).slice(0, RATINGS_MAX)
  const trusted = ratings.map((rating) => ratingOf(rating, source)).sort(compareTrust)
  return trusted.find(({ severity }) => severity !== null)?.severity ?? 'medium'
}

function ratingOf(rating: JsonObject, finder: string | null): Rating {
  const source = sourceOf(rating)
  const stated = VERSION_OF_METHOD.get(rating.method) ?? null
  const cvss = cvssOf(rating.vector, stated)
  const version = cvss?.version ?? stated
  const hasScale = version !== null || (textOf(rating.method) === null && !NOT_SEVERITY.test(source ?? ''))
  const score = (hasScale ? scoreOf(rating.score) : null) ?? cvss?.score ?? null
  const severity = severityInWords(rating.severity) ?? (score === null ? null : severityOfScore(score))
  return { isOwn: source !== null && source === finder, version, severity, score }
}

function sourceOf(member: JsonObject): string | null {
  return textOf(objectOf(member.source)?.name)?.toLowerCase() ?? null
}

function compareTrust(a: Rating, b: Rating): number {
  return (
    Number(b.isOwn) - Number(a.isOwn) ||
    VERSION_ORDER.indexOf(a.version) - VERSION_ORDER.indexOf(b.version) ||
    rankOf(b) - rankOf(a) ||
    (b.score ?? -1) - (a.score ?? -1)
  )
}

/** Greater is worse: 4 for critical, 0 for info, -1 without a severity. */
function rankOf({ severity }: Rating): number {
  if (severity === null) return -1
  return severity === 'info' ? 0 : SEVERITIES.length - SEVERITIES.indexOf(severity)
}
