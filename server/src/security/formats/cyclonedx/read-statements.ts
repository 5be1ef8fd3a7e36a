import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, toObject, toObjects, toText } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { parsePackageUrl } from '../../vocabulary/package-url.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import { ReportWarnings } from '../report/report-reading.ts'
import {
  collectIds,
  formatComment,
  type OnStatements,
  parseAddress,
  parsePurl,
  parseTime,
  StatementBatch,
  type Subject,
  type VexDocument,
  type VexStatement,
  type VexStatus,
} from '../report/vex-statement.ts'
import { explainAnalysis, listAffected } from './parser.ts'
import { parseBomLink } from './read-components.ts'
import { type Header, readDocument } from './read-document.ts'

const ANALYSES = createSelectionTree([
  'components[*]:type',
  'vulnerabilities[*]:type',
  'vulnerabilities[*].analysis:type',
])

/**
 * Whether a document only states which vulnerabilities matter (decisions §8, "VEX"): it has no
 * components, and each of its vulnerabilities has an analysis. Throws JsonError.
 */
export async function isVexDocument(source: ReportSource): Promise<boolean> {
  let isOpen = false
  let isAny = false
  for await (const batch of selectJson(source.open(), ANALYSES)) {
    for (const { path, value } of batch) {
      if (path === 'components[*]:type') return false
      if (path === 'vulnerabilities[*]:type') {
        if (isOpen) return false
        isOpen = true
        isAny = true
      } else if (value === 'object') isOpen = false
    }
  }
  return isAny && !isOpen
}

const VULNERABILITY = 'vulnerabilities[*]'
const SELECTION = createSelectionTree([VULNERABILITY])

/**
 * Reads the statements of a CycloneDX document without components. Throws ReportError if it is not
 * a supported CycloneDX document, JsonError if it is not JSON.
 */
export async function parseCycloneDxVex(source: ReportSource, onStatements: OnStatements): Promise<VexDocument> {
  const warnings = new ReportWarnings()
  const { header, tool } = await readDocument(source, warnings)
  const batch = new StatementBatch(onStatements)
  for (const warning of warnings.list()) batch.warnings.add(warning)
  const product = readProduct(header)
  for await (const selected of selectJson(source.open(), SELECTION)) {
    for (const value of selected) readVulnerability(value, product, batch)
    await batch.flushFull()
  }
  const version = header('version')
  const authors = toObjects(header('metadata.authors'))
  const [author] = authors.flatMap(({ name, email }) => toText(name) ?? toText(email) ?? [])
  return {
    publisher: truncateText(author ?? toText(header('metadata.supplier.name')) ?? tool.name, NAME_MAX) ?? 'unknown',
    // Exports of one project have another serial number each.
    series: product.name ?? '',
    document_id: parseAddress(toText(header('serialNumber'))),
    document_version: truncateText(typeof version === 'number' ? String(version) : toText(version), VERSION_MAX),
    issued_at: parseTime(toText(header('metadata.timestamp'))),
    ...(await batch.finish()),
  }
}

/** What the document is about: the reference to it, and its package URL or other name. */
type Product = { ref: string | null; purl: string | null; name: string | null }

/** An image without a package URL gets one, because its name may be that of a repository. */
function readProduct(header: Header): Product {
  const text = (member: string) => toText(header(`metadata.component.${member}`))
  const [ref, purl, name] = [text('bom-ref'), parsePurl(text('purl')), parseAddress(text('name'))]
  const isImage = purl === null && name !== null && text('type') === 'container'
  return { ref, purl, name: purl ?? (isImage ? `pkg:docker/${name}` : name) }
}

const STATUSES = new Map<string | null, VexStatus>([
  ['not_affected', 'not_affected'],
  ['false_positive', 'not_affected'],
  ['resolved', 'fixed'],
  ['resolved_with_pedigree', 'fixed'],
  ['exploitable', 'affected'],
  ['in_triage', 'under_investigation'],
])

function readVulnerability({ keys, value, isOversize }: SelectedValue, product: Product, batch: StatementBatch): void {
  const vulnerability = toObject(value)
  const facts = vulnerability === null ? 'is not an object' : readFacts(vulnerability)
  if (vulnerability === null || typeof facts === 'string') {
    const reason = isOversize ? 'is too large' : facts
    batch.entries.addSkipped(`Vulnerability ${Number(keys[0]) + 1} ${reason}`)
    return
  }
  batch.entries.addRead()
  for (const subject of listSubjects(vulnerability, product, facts.status)) batch.addAbout(subject, facts)
}

/** What is stated of a vulnerability; the reason if it cannot be read, as the end of a sentence. */
function readFacts(vulnerability: JsonObject): Omit<VexStatement, keyof Subject> | string {
  const analysis = toObject(vulnerability.analysis) ?? {}
  const state = toText(analysis.state)
  const status = STATUSES.get(state)
  if (status === undefined) return 'has no known `analysis.state`'
  const references = toObjects(vulnerability.references).map(({ id }) => toText(id))
  const vuln_ids = collectIds([toText(vulnerability.id), ...references])
  if (vuln_ids.length === 0) return 'has no id'
  const stated = toText(analysis.justification) ?? (state === 'false_positive' ? state : null)
  return {
    status,
    vuln_ids,
    justification: truncateText(stated, NAME_MAX),
    comment: formatComment(explainAnalysis(analysis)),
    stated_at: parseTime(toText(analysis.lastUpdated)) ?? parseTime(toText(analysis.firstIssued)),
  }
}

/** What a vulnerability affects; null for what cannot be identified, and for nothing at all. */
function listSubjects(vulnerability: JsonObject, product: Product, status: VexStatus): (Subject | null)[] {
  const affected = listAffected(vulnerability)
  if (affected.length === 0) return [null]
  return affected.flatMap(({ ref, versions }): (Subject | null)[] => {
    const name = parseBomLink(ref)?.ref ?? ref
    if (name === product.ref || name === product.purl)
      return [product.name === null ? null : { package: product.purl, product: product.name }]
    const purl = parsePurl(name)
    if (purl === null) return [null]
    return listPackages(purl, versions, status).map((stated) =>
      stated === null ? null : { package: stated, product: product.name },
    )
  })
}

/**
 * The versions of a package that are listed: ranges are not evaluated, because an error would hide
 * others. What is listed as affected is not dismissed by the analysis. Null for each other one.
 */
function listPackages(purl: string, versions: readonly JsonObject[], status: VexStatus): (string | null)[] {
  if (versions.length === 0) return [purl]
  const isDismissing = status === 'not_affected' || status === 'fixed'
  const isContrary = ({ status: listed }: JsonObject) => isDismissing && (listed === 'affected' || listed === 'unknown')
  const own = parsePackageUrl(purl)?.version ?? null
  if (own !== null) {
    const listed = versions.filter(({ version }) => toText(version) === own)
    return [listed.some(isContrary) ? null : purl]
  }
  const end = purl.search(/[?#]|$/)
  return versions.map((listed) => {
    const version = isContrary(listed) ? null : toText(listed.version)
    return version === null ? null : parsePurl(`${purl.slice(0, end)}@${encodeURIComponent(version)}${purl.slice(end)}`)
  })
}
