import { Description, readDescription } from '../hosts/description.ts'
import { OPERATIONS } from './operations.ts'

// biome-ignore lint/suspicious/noExplicitAny: a description is any JSON
type Json = any

/**
 * Bitbucket's published description
 * (https://developer.atlassian.com/cloud/bitbucket/swagger.v3.json) as OpenAPI 3 with paths below
 * `/2.0`. It states no licence, so this program contains no copy: requests and answers are checked
 * where this variable names one. Without it, requests are checked against what `operations.ts` says.
 */
export function bitbucketDescription(): Description {
  const { BITBUCKET_DESCRIPTION: path } = process.env
  if (path === undefined) return describeRequests()
  return new Description('bitbucket', readDescription(path), { amend, slashed: new Set(['path', 'name']) })
}

/** An OpenAPI document of the requests that we send, in our own words. */
function describeRequests(): Description {
  const paths: Json = {}
  for (const [operation, { query = [], body }] of Object.entries(OPERATIONS)) {
    const [method = '', template = ''] = operation.split(' ')
    const path = template.replaceAll('+}', '}')
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: {} }))
    const parameters = [...named, ...query.map((name) => ({ name, in: 'query', schema: {} }))]
    const content = { 'application/json': { schema: body } }
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      parameters,
      ...(body && { requestBody: { required: true, content } }),
      responses: { default: { description: 'As documented' } },
    }
  }
  const about = { openapi: '3.1.0', info: { title: 'Bitbucket', version: '2.0' } }
  return new Description('bitbucket', { ...about, paths }, { slashed: new Set(['path', 'name']) })
}

/**
 * What every list takes (Bitbucket's reference, "Pagination", "Filtering", "Partial responses").
 */
const COMMON = ['page', 'pagelen', 'q', 'sort', 'fields', 'include', 'exclude']

/** Corrects where Bitbucket's answers are not as its description says. */
function amend(json: Json): void {
  for (const path of Object.values(json.paths as Json)) {
    const get = (path as Json).get
    if (get === undefined) continue
    const own = (get.parameters ?? []).filter(({ name }: Json) => !COMMON.includes(name))
    get.parameters = [...own, ...COMMON.map((name) => ({ name, in: 'query', schema: {} }))]
  }
  // Objects have a type, which requests and parts of objects need not have.
  delete json.components.schemas.object?.required
  // Null is among the values of this state, but not among its types.
  const [, participant] = json.components.schemas.participant?.allOf ?? []
  if (participant !== undefined) delete participant.properties.state.type
  openObjects(json.components.schemas)
}

/** Objects have further fields, and null where the description only knows their absence. */
function openObjects(part: Json): void {
  if (part === null || typeof part !== 'object') return
  for (const value of Object.values(part)) openObjects(value)
  if (part.additionalProperties === false) delete part.additionalProperties
  if (part.required?.includes?.('type')) part.required = part.required.filter((name: string) => name !== 'type')
  for (const [name, property] of Object.entries<Json>(part.properties ?? {}))
    if (NULLABLE.includes(name)) part.properties[name] = { anyOf: [{ type: 'null' }, property] }
}

const NULLABLE = ['mainbranch', 'merge_commit', 'closed_by', 'old', 'new']
