import { hash } from 'node:crypto'
import { JsonStore } from '../../../platform/json/json-store.ts'
import { boundedText, NAME_MAX } from '../../vocabulary/bounded-text.ts'
import { percentDecoded } from '../../vocabulary/package-url.ts'
import { inferCheckout, type KnownRepository } from '../checkout/checkout.ts'
import { CheckoutDirectories, ReportPaths } from '../checkout/checkout-directories.ts'
import { type Component, componentOf, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import { FINDINGS_MAX } from '../report/report-reading.ts'

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i
const HASH = /^[0-9a-f]{12,128}$/i

const NOT_FOUND = -1

/**
 * The components to which vulnerabilities refer, by `bom-ref`; at most as many as there are
 * findings.
 */
export class ComponentIndex {
  readonly paths = new ReportPaths()
  readonly #checkout = new CheckoutDirectories()
  readonly #components = new JsonStore()
  /** The number of each component in the store, by the key of its `bom-ref`. */
  readonly #numbers = new Map<string, number>()
  #ownSerial: string | null = null

  get isEmpty(): boolean {
    return this.#numbers.size === 0
  }

  set serialNumber(serialNumber: string | null) {
    this.#ownSerial = serialNumber?.toLowerCase().replace(/^urn:uuid:/, '') ?? null
  }

  /**
   * Infers the checkout that is removed from the paths of components. A guess is not used: the
   * absolute paths of many documents are paths in an image.
   */
  setCheckout({ name, paths }: KnownRepository): void {
    const known = [...paths, ...this.paths.relative]
    const { directories, isGuess } = inferCheckout([...this.paths.absolute], {
      name,
      paths: known,
      workingDirectories: [],
    })
    this.#checkout.set(isGuess ? [] : directories)
  }

  /** Adds the reference of a vulnerability. */
  want(ref: string): void {
    const key = keyOf(bomLinkOf(ref)?.ref ?? ref)
    if (this.#numbers.size < FINDINGS_MAX && !this.#numbers.has(key)) this.#numbers.set(key, NOT_FOUND)
  }

  /** True if the component is still needed. The first of several with the same `bom-ref` counts. */
  wants(ref: string): boolean {
    return this.#numbers.get(keyOf(ref)) === NOT_FOUND
  }

  add(ref: string, { name, version, purl, path }: Component): void {
    this.paths.add(path)
    this.#numbers.set(keyOf(ref), this.#components.add([name, version, purl, path]))
  }

  /**
   * The component of a reference. If it is not in this document, a component made from the
   * reference.
   */
  resolve(ref: string): Component {
    const link = bomLinkOf(ref)
    const isElsewhere = link !== null && link.serialNumber !== this.#ownSerial
    const name = link?.ref ?? ref
    return (isElsewhere ? null : this.#find(name)) ?? componentOfReference(name)
  }

  #find(ref: string): Component | null {
    const number = this.#numbers.get(keyOf(ref)) ?? NOT_FOUND
    if (number === NOT_FOUND) return null
    const [name, version, purl, path] = this.#components.get(number) as [string, string, string, string | null]
    return { name, version, purl, path: path === null ? null : this.#checkout.relative(path) }
  }
}

/** A short key, however long the reference is. */
function keyOf(ref: string): string {
  return hash('sha256', ref, 'binary')
}

/** Many tools use the package URL as reference. UUIDs and hashes differ in each document. */
function componentOfReference(ref: string): Component {
  const component = componentOf({ name: null, version: null, purl: ref })
  if (component.purl !== null) return component
  if (UUID.test(ref) || HASH.test(ref)) return UNKNOWN_COMPONENT
  return { ...UNKNOWN_COMPONENT, name: boundedText(ref, NAME_MAX) }
}

type BomLink = { serialNumber: string; ref: string }

/** Parses a reference to an element of a document: `urn:cdx:serial/version#ref` ("BOM-Link"). */
function bomLinkOf(text: string): BomLink | null {
  const match = /^urn:cdx:([0-9a-f-]{36})\/\d{1,10}#(.+)$/is.exec(text)
  if (match === null) return null
  const [, serialNumber = '', ref = ''] = match
  return { serialNumber: serialNumber.toLowerCase(), ref: percentDecoded(ref) }
}
