import { hash } from 'node:crypto'
import { JsonStore } from '../../../platform/json/json-store.ts'
import { boundedText, NAME_MAX } from '../../vocabulary/bounded-text.ts'
import { type Component, componentOf, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import { FINDINGS_MAX } from '../report/finding-batch.ts'
import { bomLinkOf } from './bom-link.ts'

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
const HASH = /^[0-9a-f]{12,128}$/i

const NOT_FOUND = -1

/** The components that vulnerabilities refer to, by `bom-ref`, as many as findings are kept. Compact, because they may be that many. */
export class ComponentIndex {
  readonly #components = new JsonStore()
  /** By key of the `bom-ref`: the component's number in the store. */
  readonly #numbers = new Map<string, number>()
  #ownSerial: string | null = null

  get isEmpty(): boolean {
    return this.#numbers.size === 0
  }

  set serialNumber(serialNumber: string | null) {
    this.#ownSerial = serialNumber?.toLowerCase().replace(/^urn:uuid:/, '') ?? null
  }

  /** Notes that a vulnerability refers to a component. */
  want(ref: string): void {
    const key = keyOf(bomLinkOf(ref)?.ref ?? ref)
    if (this.#numbers.size < FINDINGS_MAX && !this.#numbers.has(key)) this.#numbers.set(key, NOT_FOUND)
  }

  /** True for a component that is wanted. Of two components with one `bom-ref`, which must not be, the first counts. */
  wants(ref: string): boolean {
    return this.#numbers.get(keyOf(ref)) === NOT_FOUND
  }

  add(ref: string, { name, version, purl, path }: Component): void {
    this.#numbers.set(keyOf(ref), this.#components.add([name, version, purl, path]))
  }

  /** What a reference says, in this document or a BOM-Link to another: there, what can be told from the reference itself. */
  resolve(ref: string): Component {
    const link = bomLinkOf(ref)
    const isElsewhere = link !== null && link.serialNumber !== this.#ownSerial
    const name = link?.ref ?? ref
    return (isElsewhere ? null : this.#find(name)) ?? componentOfReference(name)
  }

  #find(ref: string): Component | null {
    const number = this.#numbers.get(keyOf(ref)) ?? NOT_FOUND
    if (number === NOT_FOUND) return null
    const [name, version, purl, path] = this.#components.get(number) as [string, string, string, string]
    return { name, version, purl, path }
  }
}

/** Short, whatever the length of the reference. */
function keyOf(ref: string): string {
  return hash('sha256', ref, 'binary')
}

/** Many tools refer to a component by its package URL. What is made anew for each document, as a UUID is, names nothing. */
function componentOfReference(ref: string): Component {
  const component = componentOf({ name: null, version: null, purl: ref })
  if (component.purl !== null) return component
  if (UUID.test(ref) || HASH.test(ref)) return UNKNOWN_COMPONENT
  return { ...UNKNOWN_COMPONENT, name: boundedText(ref, NAME_MAX) }
}
