import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: a description is any JSON
type Json = any

/** An operation that a host describes. `pointer` is where in the description. */
export type Operation = {
  /** `GET /repos/{owner}/{repo}` */
  name: string
  pointer: string
  json: Json
  /** Its own parameters and those of its path. */
  parameters: { json: Json; pointer: string }[]
  params: Record<string, string>
}

export type DescriptionOptions = {
  /** Corrects where the host does not keep to its description. */
  amend?: (json: Json) => void
  /** Parameters of paths that may contain slashes. */
  slashed?: ReadonlySet<string>
}

/** A host's OpenAPI 3 or Swagger 2 document, with validators that are compiled at first use. */
export class Description {
  readonly json: Json
  readonly #id: string
  readonly #slashed: ReadonlySet<string>
  /** To optimize a validator takes as long as to generate it, and most are used a few times. */
  readonly #ajv = new Ajv({ strict: false, inlineRefs: false, logger: false, code: { optimize: false } })
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #patterns = new Map<string, RegExp>()

  constructor(id: string, json: Json, { amend = () => undefined, slashed = new Set() }: DescriptionOptions = {}) {
    this.json = withoutNullable(json)
    this.#id = id
    this.#slashed = slashed
    amend(this.json)
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ ...this.json, $id: id })
  }

  /**
   * What is wrong with a value, null if it fits the schema at a JSON pointer of the description.
   */
  mismatch(pointer: string, value: unknown): string | null {
    let validate = this.#validators.get(pointer)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `${this.#id}#${pointer}` })
      this.#validators.set(pointer, validate)
    }
    if (validate(value)) return null
    return this.#ajv.errorsText(validate.errors, { dataVar: 'body' })
  }

  /** The operation that a request addresses; null if the host does not describe it. */
  findOperation(method: string, path: string): Operation | null {
    const wanted = method.toLowerCase()
    const found = Object.entries(this.json.paths as Record<string, Json>).flatMap(([template, item]) => {
      const params = item[wanted] === undefined ? null : this.#matchPath(template, path)
      return params === null ? [] : [{ template, item, params }]
    })
    const [best] = found.sort((one, other) => variables(one.template) - variables(other.template))
    if (best === undefined) return null
    const at = `/paths/${escaped(best.template)}`
    const parameters = [
      ...this.#parameters(best.item.parameters, `${at}/parameters`),
      ...this.#parameters(best.item[wanted].parameters, `${at}/${wanted}/parameters`),
    ]
    const name = `${method.toUpperCase()} ${best.template}`
    return { name, pointer: `${at}/${wanted}`, json: best.item[wanted], parameters, params: best.params }
  }

  #parameters(list: Json[] = [], at: string): { json: Json; pointer: string }[] {
    return list.map((json, index) => this.resolve(json, `${at}/${index}`))
  }

  /** Follows a reference within the document. */
  resolve(json: Json, pointer: string): { json: Json; pointer: string } {
    if (typeof json?.$ref !== 'string') return { json, pointer }
    const target = json.$ref.slice(1) as string
    const parts = target.split('/').slice(1)
    const found = parts.reduce((part, name) => part[name.replaceAll('~1', '/').replaceAll('~0', '~')], this.json)
    return this.resolve(found, target)
  }

  #matchPath(template: string, path: string): Record<string, string> | null {
    let pattern = this.#patterns.get(template)
    if (pattern === undefined) {
      pattern = pathPattern(template, this.#slashed)
      this.#patterns.set(template, pattern)
    }
    return matched(pattern, path)
  }
}

function variables(template: string): number {
  return template.split('{').length
}

/** Variable parts are named groups. */
export function pathPattern(template: string, slashed: ReadonlySet<string> = new Set()): RegExp {
  const parts = template.split(/\{([^}]+)\}/)
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return RegExp.escape(part)
    const name = part.replace(/^\*|\+$/g, '')
    const isLong = slashed.has(name) || name !== part
    return `(?<${name.replaceAll(/\W/g, '_')}>${isLong ? '.+' : '[^/]+'})`
  })
  return new RegExp(`^${source.join('')}$`)
}

export function matched(pattern: RegExp, path: string): Record<string, string> | null {
  const found = pattern.exec(path)
  if (found === null) return null
  return Object.fromEntries(
    Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
  )
}

/** Rewrites `nullable`, which JSON Schema does not have. */
function withoutNullable(part: Json): Json {
  if (Array.isArray(part)) return part.map(withoutNullable)
  if (part === null || typeof part !== 'object') return part
  const { nullable, 'x-nullable': alsoNullable, ...rest } = part
  const entries = Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : withoutNullable(value)])
  const schema = Object.fromEntries(entries)
  return nullable === true || alsoNullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema
}

/** A part of a JSON pointer in a URI fragment. */
export function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** Reads a description that is stored as JSON, compressed if the name ends in `.br`. */
export function readDescription(path: string): Json {
  const content = readFileSync(path)
  return JSON.parse((path.endsWith('.br') ? brotliDecompressSync(content) : content).toString())
}
