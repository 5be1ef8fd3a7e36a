import { createSelectionTree } from '../../platform/json/json-selection.ts'
import { getMember, type JsonObject, toObject, toObjects, toText, toTexts } from '../../platform/json/read-value.ts'
import { selectJson } from '../../platform/json/select-json.ts'
import type { ReportSource } from '../../security/formats/report/parsed-report.ts'
import { selectTool } from '../../security/formats/spdx/vulnerability.ts'
import { NAME_MAX, RULE_ID_MAX, truncateText, VERSION_MAX } from '../../security/vocabulary/bounded-text.ts'
import { parsePackageUrl } from '../../security/vocabulary/package-url.ts'
import { normalizeSubject } from '../../security/vocabulary/stream-name.ts'
import { type ComponentFacts, type Sbom, toSubject } from './sbom.ts'
import { type ReadComponent, SbomBuilder } from './sbom-builder.ts'

const PACKAGE = 'packages[*]'
const UNREAD_MEMBERS = [
  'hasFiles',
  'annotations',
  'attributionTexts',
  'comment',
  'copyrightText',
  'description',
  'licenseComments',
  'licenseInfoFromFiles',
]
const RELATIONSHIPS = createSelectionTree([
  'packages:type',
  'creationInfo.creators',
  'documentDescribes',
  'relationships[*]',
])
const PACKAGES = createSelectionTree([PACKAGE], { [PACKAGE]: UNREAD_MEMBERS })
const DESCRIBED_MAX = 1000

/**
 * Reads the packages of an SPDX 2 document of any size. Null for SPDX 3, whose packages are not
 * stored. Throws JsonError if it is not JSON.
 */
export async function parseSpdxSbom(source: ReportSource): Promise<Sbom | null> {
  const builder = new SbomBuilder()
  const described = new Set<string>()
  let [hasPackages, creators, subject] = [false, null as unknown, null as string | null]
  const describe = (id: unknown) => {
    if (typeof id === 'string' && described.size < DESCRIBED_MAX) described.add(id)
  }
  for await (const batch of selectJson(source.open(), RELATIONSHIPS)) {
    for (const { path, value } of batch) {
      if (path === 'packages:type') hasPackages = value === 'array'
      else if (path === 'documentDescribes') toTexts(value).forEach(describe)
      else if (path === 'creationInfo.creators') creators = value
      else relate(builder, value, describe)
    }
  }
  if (!hasPackages) return null
  // A document that describes several packages is a list of them, and has no root.
  const root = described.size === 1 ? [...described][0] : null
  if (typeof root === 'string') builder.graph.addRoot(root)
  for await (const batch of selectJson(source.open(), PACKAGES)) {
    for (const { value } of batch) {
      const entry = toObject(value)
      if (entry === null) builder.addSkipped()
      else {
        const component = readPackage(entry)
        addPackage(builder, component, described, root)
        if (component.id !== null && component.id === root) subject = nameSubject(component)
      }
    }
  }
  builder.setStream(selectTool(creators).name, subject)
  return builder.build()
}

function nameSubject({ stated: { type, name, purl } }: ReadComponent): string | null {
  return normalizeSubject({ isImage: type === 'container', name, purl })
}

/** Relationships of SPDX 2.3 §11.1. `CONTAINS` does not say who depends on what. */
function relate(builder: SbomBuilder, relationship: unknown, describe: (id: unknown) => void): void {
  const type = toText(getMember(relationship, 'relationshipType')) ?? ''
  const one = toText(getMember(relationship, 'spdxElementId'))
  const other = toText(getMember(relationship, 'relatedSpdxElement'))
  if (one === null || other === null) return
  if (type === 'DESCRIBES') describe(other)
  else if (type === 'DESCRIBED_BY') describe(one)
  else if (type === 'DEPENDS_ON') builder.graph.addEdge(one, other)
  else if (type.endsWith('DEPENDENCY_OF')) builder.graph.addEdge(other, one)
}

function addPackage(
  builder: SbomBuilder,
  component: ReadComponent,
  described: ReadonlySet<string>,
  root: string | null | undefined,
): void {
  const { id } = component
  if (id !== null && described.has(id)) {
    const { purl, name } = component.stated
    if (purl?.startsWith('pkg:oci/')) builder.addSubject(toSubject(name ?? '', parsePackageUrl(purl)?.version ?? ''))
    else if (component.facts.hashes.SHA256 !== undefined && component.stated.type !== 'container')
      builder.addSubject(toSubject(name ?? '', component.facts.hashes.SHA256))
  }
  if (id === null || id !== root) builder.add(component)
}

function readPackage(entry: JsonObject): ReadComponent {
  const references = toObjects(entry.externalRefs)
  const locate = (type: string) => toText(references.find((each) => typeName(each) === type)?.referenceLocator)
  const purl = locate('purl')
  const type = toText(entry.primaryPackagePurpose)?.trim().toLowerCase().replaceAll('_', '-').slice(0, 50) ?? 'library'
  const [, sourceName = null, sourceVersion = null] =
    /^built package from: ([^\s]{1,300})(?: ([^\s]{1,100}))?$/.exec(toText(entry.sourceInfo)?.slice(0, 500) ?? '') ?? []
  const licenses = [entry.licenseConcluded, entry.licenseDeclared].map(toStated).filter((text) => text !== null)
  return {
    id: toText(entry.SPDXID),
    stated: {
      purl,
      cpe: locate('cpe23type'),
      type,
      name: truncateText(toStated(entry.name), NAME_MAX),
      version: truncateText(toStated(entry.versionInfo), VERSION_MAX),
      sourceName,
      sourceVersion,
    },
    facts: {
      purl: truncateText(purl, 1000),
      type,
      scope: null,
      licenses: licenses.slice(0, 1).map((text) => text.slice(0, RULE_ID_MAX)),
      supplier: truncateText(toStated(entry.supplier)?.replace(/^(?:Organization|Person):\s?/, '') ?? null, NAME_MAX),
      hashes: readChecksums(entry.checksums),
      path: null,
      patched: [],
    } satisfies ComponentFacts,
  }
}

function readChecksums(value: unknown): Record<string, string> {
  const pairs = toObjects(value)
    .slice(0, 50)
    .flatMap(({ algorithm, checksumValue }): [string, string][] => {
      const [name, digest] = [toText(algorithm), toText(checksumValue)]
      return name === null || digest === null ? [] : [[name.slice(0, 50), digest.trim().toLowerCase().slice(0, 128)]]
    })
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `NOASSERTION` and `NONE` state nothing (SPDX 2.3 §7). */
function toStated(value: unknown): string | null {
  const text = toText(value)?.trim() ?? null
  return text === null || text === 'NOASSERTION' || text === 'NONE' ? null : text
}

function typeName({ referenceType }: JsonObject): string {
  const type = toText(referenceType)?.slice(0, 300).trim().toLowerCase() ?? ''
  return type.slice(type.lastIndexOf('/') + 1)
}
