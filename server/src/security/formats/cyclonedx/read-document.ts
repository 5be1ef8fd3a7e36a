import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { collectDigests, normalizeSubject } from '../../vocabulary/stream-name.ts'
import { ReportError, type ReportSource, type ReportTool } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-reading.ts'
import { ComponentIndex, defineSelection } from './read-components.ts'

const AFFECTED_REF = 'vulnerabilities[*].affects[*].ref'

const SELECTION = defineSelection([
  'bomFormat',
  '$schema',
  'specVersion',
  'serialNumber',
  'version',
  'metadata.timestamp',
  'metadata.tools',
  'metadata.authors',
  'metadata.supplier.name',
  'metadata.component.type',
  'metadata.component.bom-ref',
  'metadata.component.name',
  'metadata.component.purl',
  'metadata.component.version',
  'components:type',
  'components[*]:type',
  'vulnerabilities:type',
  'vulnerabilities[*]:type',
  AFFECTED_REF,
])

/** The text or value of a member at the top of the document or of its metadata. */
export type Header = (member: string) => unknown

export type CycloneDxDocument = {
  header: Header
  tool: ReportTool
  components: number
  vulnerabilities: number
  /** False without the member `vulnerabilities`: the document then does not state what is fixed. */
  hasVulnerabilities: boolean
  /** The references of vulnerabilities. Their components are read in the second pass. */
  affected: ComponentIndex
}

/** The first pass: header, counts and references. It also checks the grammar of the whole file. */
export async function readDocument(source: ReportSource, warnings: ReportWarnings): Promise<CycloneDxDocument> {
  const reader = new DocumentReader()
  for await (const batch of selectJson(source.open(), SELECTION)) for (const selected of batch) reader.read(selected)
  return reader.finish(warnings)
}

class DocumentReader {
  readonly #header = new Map<string, unknown>()
  readonly #affected = new ComponentIndex()
  #components = 0
  #vulnerabilities = 0

  read({ path, value }: SelectedValue): void {
    if (path === 'components[*]:type') this.#components += value === 'object' ? 1 : 0
    else if (path === 'vulnerabilities[*]:type') this.#vulnerabilities++
    else if (path === AFFECTED_REF) this.#refer(toText(value))
    else if (path === 'components:type' || path === 'vulnerabilities:type') refuseUnlessArray(path, value)
    if (!path.includes('[')) this.#header.set(path, value)
  }

  finish(warnings: ReportWarnings): CycloneDxDocument {
    const header = (member: string) => this.#header.get(member)
    const format = header('bomFormat')
    if (format !== undefined && format !== 'CycloneDX') {
      throw new ReportError(`The \`bomFormat\` of the document is ${shown(format)}, not "CycloneDX".`)
    }
    refuseUnlessSupported(readVersion(header('specVersion'), header('$schema')), warnings)
    this.#affected.serialNumber = toText(header('serialNumber'))
    this.#affected.isInImage = MACHINES.includes(toText(header('metadata.component.type')) ?? '')
    return {
      header,
      tool: { ...readTool(header('metadata.tools')), ...readSubject(header) },
      components: this.#components,
      vulnerabilities: this.#vulnerabilities,
      hasVulnerabilities: this.#vulnerabilities > 0 || header('vulnerabilities:type') === 'array',
      affected: this.#affected,
    }
  }

  #refer(ref: string | null): void {
    if (ref !== null) this.#affected.want(ref)
  }
}

/** Types of a document's subject whose paths are those of a machine. */
const MACHINES = ['container', 'operating-system', 'device', 'firmware']

/** A list that cannot be read fails the document, because an empty list would close findings. */
function refuseUnlessArray(path: string, type: unknown): void {
  if (type === 'array' || type === 'null') return
  throw new ReportError(`The member \`${path.split(':')[0]}\` is not an array.`)
}

/** CycloneDX has a JSON format since version 1.2. */
const MINOR_MIN = 2
const MINOR_MAX = 7

function refuseUnlessSupported(version: string | null, warnings: ReportWarnings): void {
  if (version === null) throw new ReportError('The CycloneDX document has no `specVersion`.')
  const minor = Number(/^1\.(\d{1,3})$/.exec(version)?.[1] ?? 0)
  if (minor < MINOR_MIN) {
    const use = `use version 1.${MINOR_MIN} to 1.${MINOR_MAX}`
    throw new ReportError(`The CycloneDX version ${shown(version)} is not supported; ${use}.`)
  }
  if (minor <= MINOR_MAX) return
  const read = `it was read as CycloneDX 1.${MINOR_MAX}`
  warnings.add(`The document is CycloneDX ${version}, which is newer than CycloneDX 1.${MINOR_MAX}; ${read}.`)
}

/** In version 1.2, the version may be in the URL of the schema only. */
function readVersion(specVersion: unknown, schema: unknown): string | null {
  if (typeof specVersion === 'string' || typeof specVersion === 'number') return String(specVersion).trim()
  const [, version = null] =
    /\bbom-(\d{1,3}\.\d{1,3})[a-z.-]*\.schema\.json/i.exec(toTexts(schema)[0]?.slice(0, 500) ?? '') ?? []
  return version
}

function shown(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, 30) : (value ?? null)).slice(0, 40)
}

/** The image or project that the document is about. A file or directory is none. */
export function readSubject(header: Header): Pick<ReportTool, 'subject' | 'digests'> {
  const type = toText(header('metadata.component.type'))
  if (type === 'file') return {}
  const name = truncateText(toText(header('metadata.component.name')), NAME_MAX)
  const purl = toText(header('metadata.component.purl'))
  const subject = normalizeSubject({ isImage: type === 'container', name, purl })
  const digests = collectDigests([name, purl, toText(header('metadata.component.version'))])
  return subject === null ? {} : { subject, ...(digests && { digests }) }
}

/** The first named tool of `metadata.tools`; without one, the tool is `CycloneDX`. */
export function readTool(tools: unknown): ReportTool {
  // A list up to version 1.4, and an object of components and services since.
  const object = toObject(tools)
  const all = object === null ? toObjects(tools) : [...toObjects(object.components), ...toObjects(object.services)]
  const named = all.find(({ name }) => toText(name) !== null)
  const name = truncateText(toText(named?.name), NAME_MAX)
  return {
    ...(name === null ? { name: 'CycloneDX', isUnnamed: true } : { name }),
    version: truncateText(toText(named?.version), VERSION_MAX),
  }
}
