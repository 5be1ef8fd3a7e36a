import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import type { Component } from '../report/dependency-finding.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { readComponent } from './component.ts'
import type { ComponentIndex } from './component-index.ts'
import { nestedSelection } from './component-selection.ts'

const PLACES = ['components[*]', 'services[*]', 'metadata.component']
const MEMBERS = ['bom-ref', 'group', 'name', 'version', 'purl', 'properties', 'evidence.occurrences']
const SELECTION = nestedSelection(
  PLACES.flatMap((place) => [`${place}:type`, ...MEMBERS.map((member) => `${place}.${member}`)]),
)

/** What is kept of all components together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 32 * 1024 * 1024

/** The second pass: the components, services and the document's own subject, as far as vulnerabilities refer to them. */
export async function readComponents(
  source: ReportSource,
  affected: ComponentIndex,
  warnings: ReportWarnings,
): Promise<void> {
  if (affected.isEmpty) return
  const reader = new ComponentReader(affected, warnings)
  for await (const batch of selectJson(source.open(), SELECTION)) for (const selected of batch) reader.read(selected)
  reader.closeFrom(0)
}

/** Puts components together from their members, which stand before and after the components nested in them. */
class ComponentReader {
  readonly #affected: ComponentIndex
  readonly #warnings: ReportWarnings
  /** By depth: the components that are not yet over. The document's subject is at depth 0. */
  readonly #open: (JsonObject | undefined)[] = []
  #textLeft = KEPT_TEXT_MAX

  constructor(affected: ComponentIndex, warnings: ReportWarnings) {
    this.#affected = affected
    this.#warnings = warnings
  }

  read({ path, at, value }: SelectedValue): void {
    const depth = at.length
    if (path.endsWith(':type')) {
      this.closeFrom(depth)
      this.#open[depth] = {}
      return
    }
    const component = this.#open[depth]
    if (component !== undefined) component[path.slice(path.lastIndexOf('.') + 1)] = value
  }

  closeFrom(depth: number): void {
    for (const members of this.#open.splice(depth)) {
      const ref = textOf(members?.['bom-ref'])
      if (members !== undefined && ref !== null && this.#affected.wants(ref)) this.#keep(ref, members)
    }
  }

  #keep(ref: string, members: JsonObject): void {
    const component = readComponent(members)
    this.#textLeft -= textLength(component)
    if (this.#textLeft >= 0) this.#affected.add(ref, component)
    else this.#warnings.add('The vulnerable components have very long names; those of later ones were not read')
  }
}

function textLength({ name, version, purl, path }: Component): number {
  return [name, version, purl, path].reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
