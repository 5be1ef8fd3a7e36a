import { type Bytes, fromBase64 } from './bytes.ts'
import { Refused } from './checks.ts'

export type JsonObject = { readonly [name: string]: unknown }

/** Reads the fields of a JSON object. Throws `Refused` with the path of a field of another type. */
export class Fields {
  readonly json: JsonObject
  readonly path: string

  constructor(value: unknown, path: string) {
    if (!isObject(value)) throw new Refused(`${path || 'the document'} must be an object`)
    this.json = value
    this.path = path
  }

  /** Whether the field is present and not null. */
  has(name: string): boolean {
    return Object.hasOwn(this.json, name) && this.json[name] !== null
  }

  /** Refuses fields with other names. */
  only(names: string[]): this {
    const other = Object.keys(this.json).find((name) => !names.includes(name))
    if (other !== undefined) throw new Refused(`${this.pathOf(other.slice(0, 40))} is not a known field`)
    return this
  }

  string(name: string, form?: { pattern: RegExp; what: string }): string {
    const value = this.json[name]
    if (typeof value !== 'string') throw this.refusal(name, 'a string')
    if (form !== undefined && !form.pattern.test(value)) throw this.refusal(name, form.what)
    return value
  }

  /** A number of things: a safe integer from 0. */
  count(name: string): number {
    const value = this.json[name]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw this.refusal(name, 'a count')
    return value
  }

  object(name: string): Fields {
    return new Fields(this.json[name], this.pathOf(name))
  }

  list(name: string): unknown[] {
    const value = this.json[name]
    if (!Array.isArray(value)) throw this.refusal(name, 'a list')
    return value
  }

  objects(name: string): Fields[] {
    return this.list(name).map((item, index) => new Fields(item, `${this.pathOf(name)}[${index}]`))
  }

  strings(name: string): string[] {
    const value = this.list(name)
    if (!value.every((item) => typeof item === 'string')) throw this.refusal(name, 'a list of strings')
    return value
  }

  /** Standard base64 with padding, in the only form that encodes its bytes. */
  base64(name: string): Bytes {
    return decodeBase64(this.string(name), this.pathOf(name))
  }

  refusal(name: string, expected: string): Refused {
    const verb = Object.hasOwn(this.json, name) ? 'must be' : 'is missing; it must be'
    return new Refused(`${this.pathOf(name)} ${verb} ${expected}`)
  }

  private pathOf(name: string): string {
    return this.path ? `${this.path}.${name}` : name
  }
}

export const HEX_256 = { pattern: /^[0-9a-f]{64}$/, what: '64 lower-case hexadecimal digits' }

/** `what` names the text in the error message. */
export function decodeBase64(text: string, what: string): Bytes {
  const bytes = fromBase64(text)
  if (bytes === null) throw new Refused(`${what} must be base64 (RFC 4648 §4, with padding)`)
  return bytes
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
