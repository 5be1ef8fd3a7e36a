import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { ErrorResponse, GatewayRejectionResponse } from './schemas.ts'

/** The shared schema and the description of each error status. */
type ErrorResponses = Record<string, [schema: string, description: string]>

const COMMON_ERROR_RESPONSES: ErrorResponses = {
  404: ['Error', '`not_found`: the organization has no such object within its data retention.'],
  429: ['Error', '`rate_limited`: too many requests. Wait for the number of seconds in `Retry-After`.'],
  500: ['Error', '`internal_error`: the server failed.'],
  503: ['Error', '`unavailable`: the database or the object store cannot be reached.'],
}

/** The errors of an API whose callers use API keys. */
export const KEY_ERROR_RESPONSES: ErrorResponses = {
  400: [
    'Error',
    'The request is not valid: `invalid_request`, `invalid_json` or `invalid_cursor`, or an error of this operation.',
  ],
  401: ['GatewayRejection', 'The credential is missing or not valid. The body does not state the reason.'],
  402: ['Error', '`plan_required`: the plan of the organization does not include API access or this feature.'],
  403: ['GatewayRejection', 'The credential does not have the scope that this operation requires.'],
  ...COMMON_ERROR_RESPONSES,
}

/** The errors of an API whose callers are people with a session. */
export const PERSON_ERROR_RESPONSES: ErrorResponses = {
  400: ['Error', 'The request is not valid: `invalid_request`, `invalid_json` or `invalid_cursor`, or another error.'],
  401: ['Error', '`not_signed_in`: the session is missing or has ended.'],
  402: ['Error', '`plan_required`: the plan of the organization does not include this feature.'],
  403: [
    'Error',
    '`insufficient_permission`: the role does not have the permission. `fresh_sign_in_required`: confirm your identity first. `cross_site_request`: the request does not come from a page of this server.',
  ],
  ...COMMON_ERROR_RESPONSES,
}

const WRITE_ERROR_RESPONSES: ErrorResponses = {
  409: ['Error', 'The request conflicts with the stored state. `error.code` states the reason.'],
  413: ['Error', '`payload_too_large`: the body exceeds the size limit of this operation.'],
  415: ['Error', '`unsupported_media_type`: the body is not `application/json`.'],
}

/** The response 403 of an operation that has an error of its own with this status. */
export const ForbiddenResponse = {
  description: 'The credential does not have the scope that this operation requires, or an error of this operation.',
  content: { 'application/json': { schema: { anyOf: [{ $ref: 'GatewayRejection#' }, { $ref: 'Error#' }] } } },
}

/** A response of an operation that has an error with a status that is not common to all. */
export function defineErrorResponse(description: string) {
  return { description, content: { 'application/json': { schema: { $ref: 'Error#' } } } }
}

/** Allows only resources of this server. It does not force TLS: that is the operator's decision. */
const DOCS_CSP = "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'self'; base-uri 'self'"

type ApiDescription = {
  /** The start of all paths of the API. */
  prefix: string
  title: string
  description: string
  version: string
  serverUrl: string
  tags: readonly { name: string; description: string }[]
  /** By name, in OpenAPI's form. The first one applies to every route that names no other. */
  securitySchemes: Record<string, SecurityScheme>
  errorResponses: ErrorResponses
}

type SecurityScheme = { description: string } & (
  | { type: 'http'; scheme: 'bearer' }
  | { type: 'apiKey'; in: 'cookie'; name: string }
)

/** Adds the schemas that every API refers to. */
export function registerErrorSchemas(app: FastifyInstance): void {
  for (const schema of [ErrorResponse, GatewayRejectionResponse]) app.addSchema(schema)
}

/** Describes every route of an API as OpenAPI 3.1 (`GET {prefix}/openapi.json`). */
export async function registerOpenApi(app: FastifyInstance, api: ApiDescription): Promise<void> {
  const { prefix, title, description, version, serverUrl, tags, securitySchemes, errorResponses } = api
  const decorator = getDecorator(prefix)
  const forReads = describeErrors(errorResponses)
  const forWrites = describeErrors({ ...errorResponses, ...WRITE_ERROR_RESPONSES })
  app.addHook('onRoute', ({ schema, url, method }) => {
    if (!schema || schema.hide || !url.startsWith(prefix)) return
    const isRead = [method].flat().some((name) => name === 'GET' || name === 'HEAD')
    schema.response = { ...(isRead ? forReads : forWrites), ...(schema.response as object) }
  })
  await app.register(swagger, {
    decorator,
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: serverUrl }],
      tags: [...tags],
      security: Object.keys(securitySchemes)
        .slice(0, 1)
        .map((name) => ({ [name]: [] })),
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({
      // Storage addresses are not described: clients take them from responses.
      schema: url.startsWith(prefix) ? (referToShared(schema) as typeof schema) : { hide: true },
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document ? withoutUnused(document.openapiObject) : document.swaggerObject,
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`) },
  })
  app.get(`${prefix}/openapi.json`, { config: { public: true }, schema: { hide: true } }, async () => app[decorator]())
}

/** Shows the description of an API as web pages (`/docs`). */
export async function registerDocs(app: FastifyInstance, api: Pick<ApiDescription, 'prefix' | 'title'>): Promise<void> {
  await app.register(async (docs) => {
    // The name under which the pages look for the description.
    docs.decorate('swagger', app[getDecorator(api.prefix)])
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: `${api.title} API` },
      staticCSP: true,
      transformStaticCSP: () => DOCS_CSP,
      indexPrefix: '',
    })
  })
}

/** Several APIs are described, each under a name of its own. */
function getDecorator(prefix: string): 'swagger' {
  return `describe ${prefix}` as 'swagger'
}

function describeErrors(errors: ErrorResponses): Record<string, unknown> {
  const described = Object.entries(errors).map(([status, [schema, description]]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: `${schema}#` } } } },
  ])
  return Object.fromEntries(described)
}

type OpenApiObject = Extract<Parameters<SwaggerTransformObject>[0], { openapiObject: unknown }>['openapiObject']

/** Removes the shared schemas and tags that the operations of this API do not refer to. */
function withoutUnused(document: OpenApiObject): OpenApiObject {
  const { paths, components = {}, tags = [] } = document
  const used = new Set<string>()
  const waiting = [JSON.stringify(paths)]
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      waiting.push(JSON.stringify(components.schemas?.[name]))
    }
  }
  const schemas = Object.entries(components.schemas ?? {}).filter(([name]) => used.has(name))
  const operations = Object.values(paths ?? {}).flatMap((path) => Object.values(path as object))
  const named = new Set(operations.flatMap(({ tags: names = [] }: { tags?: string[] }) => names))
  return {
    ...document,
    tags: tags.filter(({ name }) => named.has(name)),
    components: { ...components, schemas: Object.fromEntries(schemas) },
  } as OpenApiObject
}

/** Replaces each shared schema in a route by a reference to `components/schemas`. */
function referToShared(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(referToShared)
  if ('$id' in schema) return { $ref: `${schema.$id}#` }
  return Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, referToShared(inner)]))
}
