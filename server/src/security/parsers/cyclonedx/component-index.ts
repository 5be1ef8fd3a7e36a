import { boundedText, NAME_MAX } from '../bounded-text.ts'
import { type Component, componentOf, UNKNOWN_COMPONENT } from '../dependency-finding.ts'
import { referenceKey } from '../reference-key.ts'
import { bomLinkOf } from './bom-link.ts'

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
const HASH = /^[0-9a-f]{12,128}$/i

/** The components that vulnerabilities refer to, by `bom-ref`. */
export class ComponentIndex {
  readonly #ownSerial: string | null
  readonly #byRef = new Map<string, Component>()

  constructor(serialNumber: string | null) {
    this.#ownSerial = serialNumber?.toLowerCase().replace(/^urn:uuid:/, '') ?? null
  }

  /** Of two components with one `bom-ref`, which must not be, the first counts. */
  add(ref: string, component: Component): void {
    const key = referenceKey(ref)
    if (!this.#byRef.has(key)) this.#byRef.set(key, component)
  }

  /** What a reference says, in this document or a BOM-Link to another: there, what can be told from the reference itself. */
  resolve(ref: string): Component {
    const link = bomLinkOf(ref)
    const isElsewhere = link !== null && link.serialNumber !== this.#ownSerial
    const name = link?.ref ?? ref
    return (isElsewhere ? undefined : this.#byRef.get(referenceKey(name))) ?? componentOfReference(name)
  }
}

/** Many tools refer to a component by its package URL. What is made anew for each document, as a UUID is, names nothing. */
function componentOfReference(ref: string): Component {
  const component = componentOf({ name: null, version: null, purl: ref })
  if (component.purl !== null) return component
  if (UUID.test(ref) || HASH.test(ref)) return UNKNOWN_COMPONENT
  return { ...UNKNOWN_COMPONENT, name: boundedText(ref, NAME_MAX) }
}
