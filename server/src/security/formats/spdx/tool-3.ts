import { type JsonObject, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX } from '../../vocabulary/bounded-text.ts'
import type { ReportTool } from '../report/parsed-report.ts'
import { classOf, idOf, referencesOf } from './element-3.ts'
import { toolOfName } from './tool.ts'

const KEPT_MAX = 1000

/** Finds the tool that made a graph: what the document's creation info was created using, else the first of the tools by name. */
export class ToolFinder {
  readonly #names = new Map<string, string>()
  readonly #usedBy = new Map<string, string[]>()
  #documentCreation: string | null = null

  add(element: JsonObject): void {
    const id = idOf(element)
    const type = classOf(element)
    if (type === 'SpdxDocument') this.#documentCreation = referencesOf(element.creationInfo)[0] ?? null
    if (id === null) return
    if (type === 'Tool') this.#addTool(id, textOf(element.name))
    // A creation info is a blank node; some writers give it an IRI too, and refer to it by either.
    else if (type === 'CreationInfo') this.#addCreation(element)
  }

  tool(): ReportTool {
    const used = this.#usedBy.get(this.#documentCreation ?? '') ?? []
    const named = used.map((id) => this.#names.get(id)).find((name) => name !== undefined)
    return toolOfName(named ?? [...this.#names.values()].sort()[0] ?? null)
  }

  #addTool(id: string, name: string | null): void {
    const kept = boundedText(name, NAME_MAX)
    if (kept !== null && this.#names.size < KEPT_MAX) this.#names.set(id, kept)
  }

  #addCreation(element: JsonObject): void {
    const used = referencesOf(element.createdUsing).slice(0, 10)
    if (this.#usedBy.size >= KEPT_MAX) return
    for (const id of [textOf(element['@id']), textOf(element.spdxId)]) if (id !== null) this.#usedBy.set(id, used)
  }
}
