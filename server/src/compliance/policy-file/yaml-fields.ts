import { isMap, isScalar, isSeq, type LineCounter, type ParsedNode, type YAMLMap } from 'yaml'
import type { PolicyMistake } from './policy-mistake.ts'

/** Where mistakes go, and how a node's line is found. */
export type YamlReading = { lines: LineCounter; mistakes: PolicyMistake[] }

type TextBounds = { max: number; pattern?: RegExp; form?: string }

/** Reads the fields of one YAML map, and collects what is wrong with them instead of throwing. */
export class YamlFields {
  readonly #map: YAMLMap
  readonly #path: string
  readonly #reading: YamlReading
  readonly #known = new Set<string>()

  constructor(map: YAMLMap, path: string, reading: YamlReading) {
    this.#map = map
    this.#path = path
    this.#reading = reading
  }

  has(name: string): boolean {
    this.#known.add(name)
    return this.#map.has(name)
  }

  /** A text; null, and a mistake, where it is none or is missing. */
  text(name: string, bounds: TextBounds): string | null {
    const text = this.optionalText(name, bounds)
    if (!this.has(name)) this.refuse(name, `is missing; write ${bounds.form ?? 'it down'}`)
    return text
  }

  optionalText(name: string, { max, pattern, form = 'a text' }: TextBounds): string | null {
    const value = this.#scalar(name)
    if (value === undefined) return null
    const fits = typeof value === 'string' && value.trim() !== '' && value.length <= max && !value.includes('\0')
    if (fits && value.isWellFormed() && (pattern?.test(value) ?? true)) return value
    this.refuse(name, `must be ${form} of at most ${max} characters`)
    return null
  }

  oneOf<const Value extends string>(name: string, allowed: readonly Value[], fallback: Value): Value {
    const value = this.#scalar(name)
    if (value === undefined || allowed.includes(value as Value)) return (value as Value | undefined) ?? fallback
    this.refuse(name, `must be ${allowed.join(' or ')}`)
    return fallback
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.#scalar(name)
    if (value === undefined || typeof value === 'boolean') return value ?? fallback
    this.refuse(name, 'must be true or false')
    return fallback
  }

  /** Texts, each of which `mistakeIn` finds nothing wrong with; null where there are none. */
  texts(name: string, max: number, mistakeIn: (text: string) => string | null): string[] | null {
    return (
      this.#items(name, max)?.flatMap((item, index) => {
        const value = isScalar(item) ? item.value : undefined
        const mistake = typeof value === 'string' ? mistakeIn(value) : 'must be a text; put it in quotes'
        if (mistake === null) return [value as string]
        this.refuse(`${name}[${index}]`, mistake, item)
        return []
      }) ?? null
    )
  }

  map(name: string): YamlFields | null {
    const node = this.#node(name)
    if (node === undefined) return null
    if (isMap(node)) return new YamlFields(node, this.#pathOf(name), this.#reading)
    this.refuse(name, 'must have fields of its own')
    return null
  }

  maps(name: string, max: number): YamlFields[] | null {
    return (
      this.#items(name, max)?.flatMap((item, index) => {
        if (isMap(item)) return [new YamlFields(item, `${this.#pathOf(name)}[${index}]`, this.#reading)]
        this.refuse(`${name}[${index}]`, 'must have fields of its own', item)
        return []
      }) ?? null
    )
  }

  /** A misspelt field must never be one that silently does nothing. */
  refuseUnknown(): void {
    for (const { key } of this.#map.items) {
      const name = isScalar(key) ? String(key.value) : '?'
      if (this.#known.has(name)) continue
      this.refuse(name, `is no field here; there are ${[...this.#known].join(', ')}`, key)
    }
  }

  refuse(name: string, message: string, node: unknown = this.#map.get(name, true)): void {
    const range = (node as ParsedNode | undefined)?.range ?? this.#map.range
    const { line } = this.#reading.lines.linePos(range?.[0] ?? 0)
    this.#reading.mistakes.push({ line, path: this.#pathOf(name), message })
  }

  #scalar(name: string): unknown {
    const node = this.#node(name)
    if (node === undefined) return undefined
    return isScalar(node) ? node.value : Symbol('no scalar')
  }

  #items(name: string, max: number): unknown[] | null {
    const node = this.#node(name)
    if (node === undefined) return null
    if (isSeq(node) && node.items.length >= 1 && node.items.length <= max) return node.items
    this.refuse(name, `must be a list of 1 to ${max}`)
    return null
  }

  #node(name: string): unknown {
    this.#known.add(name)
    return this.#map.get(name, true)
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }
}
