import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { getMember, type JsonObject, toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { parseWebUrl } from '../../vocabulary/bounded-text.ts'
import { collectDigests, normalizeSubject } from '../../vocabulary/stream-name.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { type Component, createDependencyFinding, toComponent } from '../report/dependency-finding.ts'
import { ListedComponents } from '../report/listed-components.ts'
import { type ParsedFinding, ReportError, type ReportSource, type ReportTool } from '../report/parsed-report.ts'
import { EntryCount, type FindingBatch, type ReportWarnings } from '../report/report-reading.ts'
import { createVulnerability, type SpdxContents, selectTool } from './vulnerability.ts'

const PACKAGE = 'packages[*]'
const REFERENCE = 'packages[*].externalRefs[*]'

const HEADER = createSelectionTree([
  'spdxVersion',
  'creationInfo.creators',
  'documentDescribes',
  'relationships[*]',
  'packages:type',
  `${PACKAGE}:type`,
  REFERENCE,
])

/** Members of a package that can be long and that findings do not need. */
const UNREAD_MEMBERS = [
  'hasFiles',
  'checksums',
  'annotations',
  'attributionTexts',
  'comment',
  'copyrightText',
  'description',
  'licenseComments',
  'licenseInfoFromFiles',
  'sourceInfo',
]
const PACKAGES = createSelectionTree([PACKAGE], { [PACKAGE]: UNREAD_MEMBERS })

const MINORS_READ = ['2', '3']

type BomTool = ReportTool & { components: ListedComponents }

const DESCRIBED_MAX = 20
const ID_MAX = 1000

/**
 * Reads an SPDX 2.x document, a list of packages. The first pass reads the header and counts the
 * packages. The second pass makes findings; it runs only if a package refers to vulnerabilities.
 */
export async function readPackages(
  source: ReportSource,
  batch: FindingBatch,
  warnings: ReportWarnings,
): Promise<SpdxContents> {
  const header = new HeaderReader()
  for await (const selected of selectJson(source.open(), HEADER)) for (const member of selected) header.read(member)
  header.refuseUnlessSupported(warnings)
  const { hasStatements, packages } = header
  const subject = hasStatements ? await findSubject(source, header.described) : null
  const components = new ListedComponents()
  const tool = { ...header.tool, ...subject, components }
  const entries = new EntryCount(warnings)
  if (hasStatements) await readFindings(source, tool, batch, entries)
  return { tool, hasStatements, components: packages, skipped: entries.skipped, isIncomplete: false }
}

/** The image or project that the document describes (§11.1, DESCRIBES); null if it names none. */
async function findSubject(
  source: ReportSource,
  described: ReadonlySet<string>,
): Promise<Pick<ReportTool, 'subject' | 'digests'> | null> {
  if (described.size === 0) return null
  for await (const selected of selectJson(source.open(), PACKAGES)) {
    for (const { value } of selected) {
      const entry = toObject(value)
      if (entry === null || !described.has(toText(entry.SPDXID) ?? '')) continue
      const { name, purl } = readComponent(entry, toObjects(entry.externalRefs))
      const digests = collectDigests([purl, statedText(entry.name)])
      const subject = normalizeSubject({ isImage: isImage(entry), name: statedText(entry.name) ?? name, purl })
      return { subject, ...(digests && { digests }) }
    }
  }
  return null
}

function isImage({ primaryPackagePurpose }: JsonObject): boolean {
  return toText(primaryPackagePurpose)?.trim().toUpperCase() === 'CONTAINER'
}

async function readFindings(
  source: ReportSource,
  tool: BomTool,
  batch: FindingBatch,
  entries: EntryCount,
): Promise<void> {
  for await (const selected of selectJson(source.open(), PACKAGES)) {
    for (const { keys, value, isOversize } of selected) {
      const entry = toObject(value)
      if (entry !== null) for (const finding of listFindings(tool, entry)) batch.add(finding)
      else entries.addSkipped(`Package ${Number(keys[0]) + 1} is ${isOversize ? 'too large' : 'not an object'}`)
    }
    await batch.flushFull()
    if (batch.isTruncated) break
  }
}

class HeaderReader {
  tool: ReportTool = selectTool(null)
  packages = 0
  hasStatements = false
  readonly described = new Set<string>()
  #hasOthers = false
  #version: unknown

  read({ path, value }: SelectedValue): void {
    if (path === 'spdxVersion') this.#version = value
    else if (path === 'creationInfo.creators') this.tool = selectTool(value)
    else if (path === 'documentDescribes') for (const id of toTexts(value)) this.#describe(id)
    else if (path === 'relationships[*]') this.#relate(value)
    else if (path === 'packages:type') refuseUnlessArray(value)
    else if (path === REFERENCE) this.hasStatements ||= isStatement(value)
    else if (value === 'object') this.packages++
    else this.#hasOthers = true
  }

  #relate(relationship: unknown): void {
    if (getMember(relationship, 'relationshipType') !== 'DESCRIBES') return
    this.#describe(toText(getMember(relationship, 'relatedSpdxElement')) ?? '')
  }

  #describe(id: string): void {
    if (this.described.size < DESCRIBED_MAX && id.length <= ID_MAX) this.described.add(id)
  }

  refuseUnlessSupported(warnings: ReportWarnings): void {
    if (this.packages === 0 && this.#hasOthers) {
      throw new ReportError('The member `packages` contains no objects.')
    }
    const version = typeof this.#version === 'string' ? this.#version.trim().slice(0, 30) : null
    if (version === null) throw new ReportError('The SPDX document has no `spdxVersion`.')
    const minor = /^SPDX-2\.(\d{1,3})$/.exec(version)?.[1] ?? '0'
    if (MINORS_READ.includes(minor)) return
    if (Number(minor) < 2) {
      const shown = JSON.stringify(version)
      throw new ReportError(`The SPDX version ${shown} is not supported; use SPDX 2.2, 2.3 or 3.0.`)
    }
    warnings.add(`The document is ${version}, which is newer than SPDX 2.3; it was read as SPDX 2.3.`)
  }
}

function refuseUnlessArray(type: unknown): void {
  if (type === 'array' || type === 'null') return
  throw new ReportError('The member `packages` of the SPDX document is not an array.')
}

/** The values that mean "not stated" (SPDX 2.3 §7). */
const NOT_STATED = new Set(['NOASSERTION', 'NONE'])

/** Types of security references (SPDX 2.3 Annex F.2) that identify the package itself. */
const IDENTIFYING = new Set(['cpe22type', 'cpe23type', 'swid'])

/** True for an external reference that is about vulnerabilities, including a reference to a fix. */
function isStatement(reference: unknown): boolean {
  const category = toText(getMember(reference, 'referenceCategory'))?.trim().toUpperCase()
  return category === 'SECURITY' && !IDENTIFYING.has(typeName(getMember(reference, 'referenceType')))
}

/** One finding per security reference that names a vulnerability, except references to a fix. */
function listFindings(tool: BomTool, entry: JsonObject): ParsedFinding[] {
  const references = toObjects(entry.externalRefs)
  const component = readComponent(entry, references)
  tool.components.add(component)
  return references.flatMap((reference) => {
    if (!isStatement(reference) || typeName(reference.referenceType) === 'fix') return []
    const ids = collectVulnerabilityIds([toText(reference.referenceLocator) ?? ''])
    if (ids.length === 0) return []
    const vulnerability = createVulnerability(ids, {
      description: toText(reference.comment),
      url: parseWebUrl(toText(reference.referenceLocator)),
    })
    return [createDependencyFinding({ tool, vulnerability, component, fixedVersion: null, dismissal: null })]
  })
}

function readComponent(entry: JsonObject, references: JsonObject[]): Component {
  const purl = references.find(({ referenceType }) => typeName(referenceType) === 'purl')
  return toComponent({
    name: statedText(entry.name),
    version: statedText(entry.versionInfo),
    purl: toText(purl?.referenceLocator),
  })
}

function statedText(value: unknown): string | null {
  const text = toText(value)
  return text === null || NOT_STATED.has(text.trim().toUpperCase()) ? null : text
}

/** `advisory` of both `advisory` and `http://spdx.org/rdf/references/advisory`. */
function typeName(referenceType: unknown): string {
  const type = toText(referenceType)?.slice(0, 300).trim().toLowerCase() ?? ''
  return type.slice(type.lastIndexOf('/') + 1)
}
