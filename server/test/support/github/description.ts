import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: the description is any JSON
type Json = any

const FIXTURES = join(import.meta.dirname, '../../fixtures/github')

export type Operation = {
  /** As in `described.ts`: `GET /repos/{owner}/{repo}`. */
  name: string
  path: string
  description: Json
  params: Record<string, string>
}

/** One of GitHub's two descriptions, with validators that are compiled at first use. */
class Description {
  readonly json: Json
  readonly #ajv = new Ajv({ strict: false, inlineRefs: false, logger: false })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(name: 'rest' | 'webhooks', amend: (json: Json) => void) {
    this.json = withoutNullable(JSON.parse(readFixture(name)))
    amend(this.json)
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ ...this.json, $id: 'github' })
  }

  /**
   * What is wrong with a value, null if it fits the schema at a JSON pointer of the description.
   */
  mismatch(pointer: string, value: unknown): string | null {
    let validate = this.#validators.get(pointer)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `github#${pointer}` })
      this.#validators.set(pointer, validate)
    }
    if (validate(value)) return null
    return this.#ajv.errorsText(validate.errors, { dataVar: 'body' })
  }
}

function readFixture(name: string): string {
  return brotliDecompressSync(readFileSync(join(FIXTURES, `${name}.json.br`))).toString()
}

let rest: Description | undefined
let webhooks: Description | undefined

export function restDescription(): Description {
  rest ??= new Description('rest', amendRest)
  return rest
}

export function webhookDescription(): Description {
  webhooks ??= new Description('webhooks', amendWebhooks)
  return webhooks
}

/**
 * Where GitHub does not keep to its description. `waiting` is the state of a deployment that
 * protection rules hold (https://docs.github.com/graphql/reference/enums#deploymentstatusstate).
 * The `created` filter is a range of times. The addresses of a deployment's status may be empty, as
 * in the recorded payloads of @octokit/webhooks-examples. An account is a person, an organization
 * or an enterprise, but the list of installations describes it as all of them.
 */
function amendRest({ components, paths }: Json): void {
  const installations = paths['/app/installations'].get.responses['200'].content['application/json'].schema
  installations.items = { $ref: '#/components/schemas/installation' }
  const { properties } = components.schemas['deployment-status']
  properties.state.enum.push('waiting')
  delete properties.environment_url.format
  delete properties.log_url.format
  delete properties.target_url.format
  delete components.parameters.created.schema.format
}

function amendWebhooks({ components }: Json): void {
  const { deployment_status } = components.schemas['webhook-deployment-status-created'].properties
  delete deployment_status.properties.environment_url.format
  delete deployment_status.properties.log_url.format
}

/** Rewrites OpenAPI 3.0's `nullable`, which JSON Schema does not have. */
function withoutNullable(part: Json): Json {
  if (Array.isArray(part)) return part.map(withoutNullable)
  if (part === null || typeof part !== 'object') return part
  const { nullable, ...rest } = part
  const entries = Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : withoutNullable(value)])
  const schema = Object.fromEntries(entries)
  if (nullable !== true) return schema
  return { anyOf: [{ type: 'null' }, schema] }
}

/** The operation that a request addresses; null if GitHub does not describe it. */
export function findOperation(method: string, path: string): Operation | null {
  for (const [template, operations] of Object.entries(restDescription().json.paths) as [string, Json][]) {
    const description = operations[method.toLowerCase()]
    const params = description === undefined ? null : matchPath(template, path)
    if (params !== null) return { name: `${method} ${template}`, path: template, description, params }
  }
  return null
}

const PATTERNS = new Map<string, RegExp>()
/** Parameters that may contain slashes. */
const SLASHED = new Set(['path', 'branch', 'basehead'])

function matchPath(template: string, path: string): Record<string, string> | null {
  let pattern = PATTERNS.get(template)
  if (pattern === undefined) {
    const source = template.replace(/\{(\w+)\}/g, (_, name) => `(?<${name}>${SLASHED.has(name) ? '.+' : '[^/]+'})`)
    pattern = new RegExp(`^${source}$`)
    PATTERNS.set(template, pattern)
  }
  const found = pattern.exec(path)
  if (found === null) return null
  return Object.fromEntries(
    Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
  )
}
