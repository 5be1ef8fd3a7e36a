import { getDeclaredType, UndefinedValueError } from './types.ts'

/** SQL with parameters, as it is written in a template. */
export type Template = { strings: readonly string[]; values: readonly unknown[] }

/** A template that is part of another one. */
export abstract class Fragment implements Template {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

/**
 * Names, rows or values, which are written according to what stands before them: a list of columns
 * and rows after `insert into`, assignments after `set`, values after `in`, otherwise names.
 */
export class Helper {
  readonly first: unknown
  readonly columns: readonly string[]

  constructor(first: unknown, columns: readonly string[]) {
    this.first = first
    this.columns = columns
  }
}

/** A value whose type is declared to PostgreSQL. */
export class TypedValue {
  readonly value: unknown
  readonly type: number

  constructor(value: unknown, type: number) {
    this.value = value
    this.type = type
  }
}

/** A statement's text and the declared types of its parameters. Prepared once on a connection. */
export type Preparable = { readonly text: string; readonly types: readonly number[] }

/** What is sent. Templates without fragments have the same `preparable` each time. */
export type Rendered = { preparable: Preparable; isStatic: boolean; values: readonly unknown[] }

/** Preparables of templates without fragments, by the types of their values. */
const templates = new WeakMap<readonly string[], Map<string, Preparable>>()

export function renderTemplate({ strings, values }: Template): Rendered {
  if (values.some(isSql)) {
    const renderer = new Renderer()
    renderer.addTemplate(strings, values)
    return { preparable: { text: renderer.text, types: renderer.types }, isStatic: false, values: renderer.values }
  }
  const plain = values.some((value) => value instanceof TypedValue) ? values.map(unwrap) : values
  let variants = templates.get(strings)
  if (variants === undefined) {
    variants = new Map()
    templates.set(strings, variants)
  }
  const key = declaredTypes(values)
  let preparable = variants.get(key)
  if (preparable === undefined) {
    const text = strings.reduce((start, part, at) => `${start}$${at}${part}`)
    preparable = { text, types: values.map(getType) }
    variants.set(key, preparable)
  }
  return { preparable, isStatic: true, values: plain }
}

/** Text whose parameters are numbered already. */
export function renderText(text: string, values: readonly unknown[]): Rendered {
  return { preparable: { text, types: values.map(getType) }, isStatic: false, values: values.map(unwrap) }
}

function isSql(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof Fragment || value instanceof Helper || (Array.isArray(value) && value[0] instanceof Fragment)
}

function unwrap(value: unknown): unknown {
  return value instanceof TypedValue ? value.value : value
}

function getType(value: unknown): number {
  if (value === undefined) throw new UndefinedValueError()
  return value instanceof TypedValue ? value.type : getDeclaredType(value)
}

/** Most parameters declare no type, so that most keys are empty. */
function declaredTypes(values: readonly unknown[]): string {
  let key = ''
  for (let at = 0; at < values.length; at += 1) {
    const type = getType(values[at])
    if (type !== 0) key += `${at}:${type} `
  }
  return key
}

class Renderer {
  text = ''
  readonly values: unknown[] = []
  readonly types: number[] = []

  addTemplate(strings: readonly string[], values: readonly unknown[]): void {
    this.text += strings[0]
    for (let at = 1; at < strings.length; at += 1) {
      this.#add(values[at - 1])
      this.text += strings[at]
    }
  }

  #add(value: unknown): void {
    if (value instanceof Fragment) this.addTemplate(value.strings, value.values)
    else if (value instanceof Helper) this.#addHelper(value)
    else if (Array.isArray(value) && value[0] instanceof Fragment) this.#addFragments(value)
    else this.#addValue(value)
  }

  #addValue(value: unknown): void {
    this.types.push(getType(value))
    this.text += `$${this.values.push(unwrap(value))}`
  }

  #addFragments(fragments: readonly Fragment[]): void {
    for (const { strings, values } of fragments) {
      this.text += ' '
      this.addTemplate(strings, values)
    }
  }

  #addHelper({ first, columns }: Helper): void {
    if (/\bin\s*$/i.test(this.text)) this.#addList(first as unknown[])
    else if (areNames(first)) this.text += [first].flat().map(formatIdentifier).join(',')
    else if (/\binsert\s+into\s+\S+\s*$/i.test(this.text)) this.#addRows([first].flat() as Row[], columns)
    else if (/\bset\s+$/i.test(this.text)) this.#addAssignments(first as Row)
    else throw new TypeError(`Rows cannot stand here: ${this.text.slice(-80)}`)
  }

  #addRows(rows: readonly Row[], named: readonly string[]): void {
    const columns = named.length > 0 ? named : Object.keys(rows[0] as Row)
    this.text += `(${columns.map(formatIdentifier).join(',')})values`
    this.#addSeparated(rows, (row) => {
      this.text += '('
      this.#addSeparated(columns, (column) => this.#add(row[column]))
      this.text += ')'
    })
  }

  #addList(values: readonly unknown[]): void {
    this.text += '('
    // Nothing is in an empty list.
    if (values.length === 0) this.text += 'null'
    this.#addSeparated(values, (value) => this.#add(value))
    this.text += ')'
  }

  #addAssignments(row: Row): void {
    this.#addSeparated(Object.entries(row), ([column, value]) => {
      this.text += `${formatIdentifier(column)}=`
      this.#add(value)
    })
  }

  #addSeparated<Item>(items: readonly Item[], add: (item: Item) => void): void {
    for (const [at, item] of items.entries()) {
      if (at > 0) this.text += ','
      add(item)
    }
  }
}

type Row = Record<string, unknown>

function areNames(first: unknown): first is string | string[] {
  return typeof first === 'string' || (Array.isArray(first) && typeof first[0] === 'string')
}

/** A dot separates a schema from what is in it. */
export function formatIdentifier(name: string): string {
  return `"${name.replace(/"/g, '""').replace(/\./g, '"."')}"`
}
