import { parseComponent, type StatedComponent } from '../components/component-identity.ts'
import { ComponentGraph } from './component-graph.ts'
import { COMPONENTS_MAX, type ComponentFacts, type Sbom, type SbomSubject, TEXT_MAX } from './sbom.ts'

/** Types through which paths lead, because they bring in what they contain. */
const PASSED_TYPES: ReadonlySet<string> = new Set(['application', 'operating-system', 'container', 'file'])
/** Escapes of what PostgreSQL cannot store: zero bytes and halves of characters. */
const UNSTORABLE = /\\u(?:0000|d[89ab])/
const SUBJECTS_MAX = 50

/** A component as a document describes it, with its id in the document. */
export type ReadComponent = { id: string | null; stated: StatedComponent; facts: ComponentFacts }

/** Collects what a document contains, in bounded memory. */
export class SbomBuilder {
  readonly graph = new ComponentGraph()
  readonly #sbom: Sbom = {
    tool: '',
    subject: null,
    components: [],
    subjects: [],
    operatingSystem: null,
    skipped: 0,
    truncated: false,
  }
  #textLeft = TEXT_MAX

  addSkipped(): void {
    this.#sbom.skipped++
  }

  addSubject(subject: SbomSubject | null): void {
    const { subjects } = this.#sbom
    const isKnown = subject === null || subjects.some(({ sha256 }) => sha256 === subject.sha256)
    if (!isKnown && subjects.length < SUBJECTS_MAX) subjects.push(subject)
  }

  add({ id, stated, facts }: ReadComponent): void {
    const { components } = this.#sbom
    if (stated.type === 'operating-system' && stated.name !== null)
      this.#sbom.operatingSystem ??= [stated.name, stated.version]
        .filter((text) => text !== null)
        .join('-')
        .slice(0, 100)
    const hasPurl = stated.purl !== null
    const isNameless = !hasPurl && stated.cpe === null
    // A file that only has a name says nothing about packages.
    if (stated.type === 'file' && isNameless && Object.keys(facts.hashes).length === 0) {
      if (id !== null) this.graph.addPassed(id)
      return
    }
    const component = parseComponent(stated)
    if (component === null || UNSTORABLE.test(JSON.stringify([component, facts]))) {
      this.addSkipped()
      return
    }
    this.#textLeft -= JSON.stringify(facts).length + (component.purl?.length ?? 0) + 3 * component.name.length
    if (components.length >= COMPONENTS_MAX || this.#textLeft < 0) {
      this.#sbom.truncated = true
      return
    }
    if (id !== null) this.graph.addComponent(id, components.length, !hasPurl && PASSED_TYPES.has(stated.type))
    components.push({ component, facts, parent: null })
  }

  /** The tool that wrote the document and what it is about tell the streams of documents apart. */
  setStream(tool: string, subject: string | null): void {
    this.#sbom.tool = tool
    this.#sbom.subject = subject
  }

  build(): Sbom {
    this.graph.setParents(this.#sbom.components)
    return this.#sbom
  }
}
