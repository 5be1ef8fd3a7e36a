import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { textOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { ReportError, type ReportSource, type ReportTool } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { ComponentIndex } from './component-index.ts'
import { nestedSelection } from './component-selection.ts'
import { refuseUnlessRead } from './spec-version.ts'
import { toolOf } from './tool.ts'

const AFFECTED_REF = 'vulnerabilities[*].affects[*].ref'

const SELECTION = nestedSelection([
  'bomFormat',
  '$schema',
  'specVersion',
  'serialNumber',
  'metadata.tools',
  'components:type',
  'components[*]:type',
  'vulnerabilities:type',
  'vulnerabilities[*]:type',
  AFFECTED_REF,
])

export type CycloneDxDocument = {
  tool: ReportTool
  components: number
  vulnerabilities: number
  /** False where the document has no member `vulnerabilities`: it then says nothing of them. */
  hasVulnerabilities: boolean
  /** Knows which components vulnerabilities refer to; they are still to be read. */
  affected: ComponentIndex
}

/** The first pass: what the document is. Also checks the grammar of the whole file. */
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
    else if (path === AFFECTED_REF) this.#refer(textOf(value))
    else if (path === 'components:type' || path === 'vulnerabilities:type') refuseUnlessArray(path, value)
    if (!path.includes('[')) this.#header.set(path, value)
  }

  finish(warnings: ReportWarnings): CycloneDxDocument {
    const header = (member: string) => this.#header.get(member)
    refuseUnlessRead(header('bomFormat'), header('specVersion'), header('$schema'), warnings)
    this.#affected.serialNumber = textOf(header('serialNumber'))
    return {
      tool: toolOf(header('metadata.tools')),
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

/** What is there and cannot be read fails the document: without it, it would close findings or name their components otherwise. */
function refuseUnlessArray(path: string, type: unknown): void {
  if (type === 'array' || type === 'null') return
  throw new ReportError(`The document's \`${path.split(':')[0]}\` are not an array.`, 'cyclonedx')
}
