import type { Description, Operation } from './description.ts'

// biome-ignore lint/suspicious/noExplicitAny: a description is any JSON
type Json = any

/** Statuses that every operation may have, although descriptions rarely list them. */
const COMMON_STATUSES = new Set([301, 304, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 501, 502, 503])

export type Sent = { query: URLSearchParams; body: unknown }

/** What a description says against a request. */
export function requestViolations(description: Description, operation: Operation, { query, body }: Sent): string[] {
  return [...queryViolations(description, operation, query), ...bodyViolations(description, operation, body)].map(
    (text) => `${operation.name}: ${text}`,
  )
}

function queryViolations(description: Description, { parameters }: Operation, query: URLSearchParams): string[] {
  const known = new Map(parameters.filter(({ json }) => json.in === 'query').map((one) => [one.json.name, one]))
  const unknown = [...query.keys()].filter((name) => !known.has(name) && !known.has(name.replace('[]', '')))
  const missing = [...known.values()].filter(({ json }) => json.required === true && !query.has(json.name))
  const wrong = [...query].flatMap(([name, text]) => {
    const parameter = known.get(name)
    if (parameter === undefined) return []
    const schema = parameter.json.schema ?? parameter.json
    // Swagger 2 has the schema of a parameter in the parameter itself.
    const pointer = parameter.json.schema === undefined ? parameter.pointer : `${parameter.pointer}/schema`
    const checked = parameter.json.schema === undefined ? swaggerMismatch : schemaMismatch
    const mismatch = checked(description, pointer, { schema, value: parsedValue(text, schema) })
    return mismatch === null ? [] : [`query parameter ${name}=${text}: ${mismatch}`]
  })
  return [
    ...unknown.map((name) => `unknown query parameter ${name}`),
    ...missing.map(({ json }) => `no query parameter ${json.name}`),
    ...wrong,
  ]
}

type Checked = { schema: Json; value: unknown }

function schemaMismatch(description: Description, pointer: string, { value }: Checked): string | null {
  return description.mismatch(pointer, value)
}

/** `required: true` of a parameter is no JSON Schema: only its type and values are checked. */
function swaggerMismatch(_description: Description, _pointer: string, { schema, value }: Checked): string | null {
  if (schema.enum !== undefined && !schema.enum.includes(value)) return `is none of ${schema.enum.join(', ')}`
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  if (isNumber && !Number.isFinite(value)) return 'is no number'
  return schema.type === 'boolean' && typeof value !== 'boolean' ? 'is no boolean' : null
}

function parsedValue(text: string, schema: Json): unknown {
  if (schema.type === 'integer' || schema.type === 'number') return text === '' ? text : Number(text)
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (schema.type === 'array') return text.split(',')
  return text
}

function bodyViolations(description: Description, operation: Operation, body: unknown): string[] {
  const schema = bodySchema(description, operation)
  if (schema === null) return body === undefined ? [] : ['has a body, but the operation takes none']
  if (body === undefined) return schema.required ? ['has no body'] : []
  const mismatch = description.mismatch(schema.pointer, body)
  return mismatch === null ? [] : [`request ${mismatch}`]
}

/** OpenAPI 3 describes a body apart, Swagger 2 as a parameter. */
function bodySchema(
  description: Description,
  { json, pointer, parameters }: Operation,
): { pointer: string; required: boolean } | null {
  const parameter = parameters.find((one) => one.json.in === 'body')
  if (parameter !== undefined)
    return { pointer: `${parameter.pointer}/schema`, required: parameter.json.required === true }
  if (json.requestBody === undefined) return null
  const body = description.resolve(json.requestBody, `${pointer}/requestBody`)
  const type = jsonType(body.json.content)
  if (type === null) return null
  return { pointer: `${body.pointer}/content/${escapedType(type)}/schema`, required: body.json.required === true }
}

/** What a description says against an answer. */
export function answerViolations(
  description: Description,
  operation: Operation,
  { status, body }: { status: number; body: unknown },
): string[] {
  const { name, json, pointer } = operation
  const own = json.responses[String(status)] ?? (status < 400 ? json.responses.default : undefined)
  if (own === undefined) return COMMON_STATUSES.has(status) ? [] : [`${name}: answer ${status} is not described`]
  if (status >= 400) return []
  const key = json.responses[String(status)] === undefined ? 'default' : status
  const answer = description.resolve(own, `${pointer}/responses/${key}`)
  const schema = answerSchema(answer)
  if (schema === null) return []
  const mismatch = description.mismatch(schema, body)
  return mismatch === null ? [] : [`${name}: answer ${status} ${mismatch}`]
}

function answerSchema({ json, pointer }: { json: Json; pointer: string }): string | null {
  if (json.schema !== undefined) return json.schema.type === 'file' ? null : `${pointer}/schema`
  const type = jsonType(json.content)
  return type === null || json.content[type].schema === undefined
    ? null
    : `${pointer}/content/${escapedType(type)}/schema`
}

function jsonType(content: Json | undefined): string | null {
  return Object.keys(content ?? {}).find((type) => type.includes('json')) ?? null
}

function escapedType(type: string): string {
  return encodeURIComponent(type.replaceAll('/', '~1'))
}
