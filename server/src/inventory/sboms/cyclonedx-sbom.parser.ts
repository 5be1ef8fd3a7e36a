import type { SelectedValue } from '../../platform/json/json-selector.ts'
import { getMember, type JsonObject, toObject, toObjects, toText, toTexts } from '../../platform/json/read-value.ts'
import { selectJson } from '../../platform/json/select-json.ts'
import { defineSelection, findPath } from '../../security/formats/cyclonedx/read-components.ts'
import { readSubject, readTool } from '../../security/formats/cyclonedx/read-document.ts'
import type { ReportSource } from '../../security/formats/report/parsed-report.ts'
import { NAME_MAX, RULE_ID_MAX, truncateText, VERSION_MAX } from '../../security/vocabulary/bounded-text.ts'
import { parsePackageUrl } from '../../security/vocabulary/package-url.ts'
import { type ComponentFacts, type Sbom, toSubject } from './sbom.ts'
import { SbomBuilder } from './sbom-builder.ts'

const MEMBERS = [
  'bom-ref',
  'type',
  'group',
  'name',
  'version',
  'purl',
  'cpe',
  'scope',
  'licenses',
  'supplier.name',
  'hashes',
  'properties',
  'evidence.occurrences',
  'pedigree.patches',
]
const LISTS = ['components[*]', 'metadata.component']
const [COMPONENT, SUBJECT] = ['components[*].', 'metadata.component.'] as const
const DEPENDENCY = 'dependencies[*]'
const SELECTION = defineSelection(
  [
    ...LISTS.flatMap((list) => [`${list}:type`, ...MEMBERS.map((member) => `${list}.${member}`)]),
    DEPENDENCY,
    'metadata.tools',
  ],
  true,
)

const LISTED_MAX = 50
const PURL_CHARS_MAX = 1000

/** Reads the components of a CycloneDX document of any size. Throws JsonError if it is not JSON. */
export async function parseCycloneDxSbom(source: ReportSource): Promise<Sbom> {
  const reader = new CycloneDxReader()
  for await (const batch of selectJson(source.open(), SELECTION)) for (const selected of batch) reader.read(selected)
  return reader.end()
}

/** A component of which members are still to come. Nested ones come before some of them. */
type OpenComponent = { members: JsonObject; isSubject: boolean; isCut: boolean }

class CycloneDxReader {
  readonly #builder = new SbomBuilder()
  #tools: unknown = null
  #subject: string | null = null
  /** The unfinished components by depth. The document's subject is at depth 0. */
  readonly #open: (OpenComponent | undefined)[] = []

  read({ path, keys, value, isOversize }: SelectedValue): void {
    if (path === DEPENDENCY) this.#depend(value)
    else if (path === 'metadata.tools') this.#tools = value
    else if (path === 'components[*]:type' || path === 'metadata.component:type') this.#start(path, keys.length, value)
    else {
      const component = this.#open[keys.length]
      if (component === undefined) return
      component.members[path.slice(path.startsWith(SUBJECT) ? SUBJECT.length : COMPONENT.length)] = value
      component.isCut ||= isOversize === true
    }
  }

  end(): Sbom {
    this.#closeFrom(0)
    this.#builder.setStream(readTool(this.#tools).name, this.#subject)
    return this.#builder.build()
  }

  #start(path: string, depth: number, type: unknown): void {
    this.#closeFrom(depth)
    const isSubject = path === 'metadata.component:type'
    if (type === 'object') this.#open[depth] = { members: {}, isSubject, isCut: false }
    else if (!isSubject) this.#builder.addSkipped()
  }

  #depend(dependency: unknown): void {
    const from = toText(getMember(dependency, 'ref'))
    if (from === null) return
    for (const to of toTexts(getMember(dependency, 'dependsOn'))) this.#builder.graph.addEdge(from, to)
  }

  #closeFrom(depth: number): void {
    for (const open of this.#open.splice(depth)) {
      if (open === undefined) continue
      const id = toText(open.members['bom-ref'])
      if (open.isSubject) {
        if (id !== null) this.#builder.graph.addRoot(id)
        this.#subject = readSubject((member) => open.members[member.slice(SUBJECT.length)]).subject ?? null
        for (const subject of listSubjects(open.members)) this.#builder.addSubject(subject)
      } else if (open.isCut) this.#builder.addSkipped()
      else this.#builder.add({ id, ...readComponent(open.members) })
    }
  }
}

function readComponent(members: JsonObject) {
  const [name, group] = [toText(members.name), toText(members.group)]
  const purl = toText(members.purl)
  const properties = new Map(toObjects(members.properties).map((each) => [each.name, toText(each.value)]))
  const type = toText(members.type)?.slice(0, 50) ?? 'library'
  return {
    stated: {
      purl,
      cpe: toText(members.cpe),
      type,
      name: truncateText(name !== null && group !== null ? `${group}/${name}` : name, NAME_MAX),
      version: truncateText(toText(members.version), VERSION_MAX),
      ...readSource(properties),
    },
    facts: {
      purl: truncateText(purl, PURL_CHARS_MAX),
      type,
      scope: readScope(members.scope),
      licenses: toObjects(members.licenses)
        .slice(0, LISTED_MAX)
        .flatMap((each) => {
          const license = toObject(each.license)
          const text = toText(each.expression) ?? toText(license?.id) ?? toText(license?.name)
          return text === null || text.trim() === 'NOASSERTION' ? [] : [text.trim().slice(0, RULE_ID_MAX)]
        }),
      supplier: truncateText(toText(members['supplier.name']), NAME_MAX),
      hashes: readHashes(members.hashes),
      path: findPath({ properties: members.properties, occurrences: members['evidence.occurrences'] }),
      patched: toObjects(members['pedigree.patches'])
        .slice(0, LISTED_MAX)
        .flatMap((patch) => toObjects(patch.resolves).slice(0, LISTED_MAX))
        .flatMap(({ id }) => toText(id)?.slice(0, RULE_ID_MAX) ?? [])
        .slice(0, LISTED_MAX),
    } satisfies ComponentFacts,
  }
}

const SCOPES = ['required', 'optional', 'excluded'] as const

function readScope(value: unknown) {
  return SCOPES.find((scope) => scope === value) ?? null
}

function readHashes(value: unknown): Record<string, string> {
  const pairs = toObjects(value)
    .slice(0, LISTED_MAX)
    .flatMap(({ alg, content }): [string, string][] => {
      const [name, digest] = [toText(alg), toText(content)]
      return name === null || digest === null ? [] : [[name.slice(0, 50), digest.trim().toLowerCase().slice(0, 128)]]
    })
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * The source package as Trivy and Syft state it. The release and the epoch are members of their
 * own.
 */
function readSource(properties: ReadonlyMap<unknown, string | null>) {
  const trivy = (name: string) => properties.get(`aquasecurity:trivy:${name}`) ?? null
  const [release, epoch] = [trivy('SrcRelease'), trivy('SrcEpoch')]
  const version = trivy('SrcVersion')
  const full =
    version === null
      ? null
      : `${epoch === null || epoch === '0' ? '' : `${epoch}:`}${version}${release === null ? '' : `-${release}`}`
  const syft = ['source', 'sourceRpm', 'originPackage'].map((name) => properties.get(`syft:metadata:${name}`))
  return {
    sourceName: truncateText(trivy('SrcName') ?? syft.find((text) => text != null) ?? null, NAME_MAX),
    sourceVersion: truncateText(full ?? properties.get('syft:metadata:sourceVersion') ?? null, VERSION_MAX),
  }
}

const REPO_DIGEST = 'aquasecurity:trivy:RepoDigest'

/**
 * The digests of what the document is about. An ImageID is that of a configuration, not of an
 * image.
 */
function* listSubjects(members: JsonObject) {
  const name = toText(members.name) ?? ''
  for (const each of toObjects(members.properties)) {
    if (each.name !== REPO_DIGEST) continue
    const [image = '', digest = ''] = toText(each.value)?.split('@') ?? []
    yield toSubject(image, digest)
  }
  const purl = toText(members.purl)
  if (purl?.startsWith('pkg:oci/')) yield toSubject(name, parsePackageUrl(purl)?.version ?? '')
  if (toText(members.type) === 'container') {
    const version = toSubject(name, toText(members.version) ?? '')
    if (version !== null) yield { ...version, stated: true as const }
    return
  }
  for (const { alg, content } of toObjects(members.hashes))
    if (alg === 'SHA-256') yield toSubject(name, toText(content) ?? '')
}
