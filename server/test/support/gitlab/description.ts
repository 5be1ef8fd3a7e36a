import { Description } from '../hosts/description.ts'
import type { Json } from '../json.ts'
import { BODIES, OPERATIONS, SHAPES } from './operations.ts'

/**
 * An OpenAPI document of the operations that we use, in our own words: the parameters that GitLab's
 * documentation of the REST API names, and the fields of its examples.
 */
export function describeGitlab(): Description {
  const paths: Json = {}
  for (const [operation, { query = [], answer, list = false, status = 200 }] of Object.entries(OPERATIONS)) {
    const [method, path] = operation.split(' ') as [string, string]
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: {} }))
    const pages = list ? ['page', 'per_page'] : []
    const parameters = [...named, ...[...query, ...pages].map((name) => ({ name, in: 'query', schema: {} }))]
    const fields = answer === undefined ? null : shapeOf(SHAPES[answer])
    const schema = list ? { type: 'array', items: fields } : fields
    const content = fields === null ? {} : { content: { 'application/json': { schema } } }
    const body = BODIES[operation]
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        parameters,
        ...(body && { requestBody: { required: true, content: { 'application/json': { schema: bodyOf(body) } } } }),
        responses: { [status]: { description: 'As documented', ...content } },
      },
    }
  }
  return new Description('gitlab', { openapi: '3.1.0', info: { title: 'GitLab', version: '4' }, paths })
}

/** `id: integer`, `name?: string`, `user?: user`; `null` is allowed in every field but the id. */
type Fields = Readonly<Record<string, string>>

function shapeOf(fields: Fields | undefined): Json {
  const entries = Object.entries(fields ?? {})
  const properties = entries.map(([name, type]) => [name.replace('?', ''), typeOf(type)])
  const required = entries.map(([name]) => name).filter((name) => !name.endsWith('?'))
  return { type: 'object', properties: Object.fromEntries(properties), required }
}

function typeOf(type: string): Json {
  const [kind = '', ...words] = type.split(' ')
  if (kind === 'one') return { enum: words }
  if (kind === 'time') return { type: ['string', 'null'], format: 'date-time' }
  if (kind === 'id') return { type: 'integer' }
  if (kind.endsWith('[]')) return { type: ['array', 'null'], items: typeOf(kind.slice(0, -2)) }
  const shape = SHAPES[kind]
  return shape === undefined ? { type: [kind, 'null'] } : { anyOf: [{ type: 'null' }, shapeOf(shape)] }
}

/** Fields that GitLab does not know would be ignored, so they are wrong. */
function bodyOf(fields: Fields): Json {
  return { ...shapeOf(fields), additionalProperties: false }
}
