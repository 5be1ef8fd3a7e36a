import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { ErrorResponse, GatewayRejectionResponse } from './schemas.ts'

/** The shared schema and the description of each error status. */
const ERROR_RESPONSES: Record<string, [schema: string, description: string]> = {
  400: [
    'Error',
    'The request is not valid: `invalid_request`, `invalid_json` or `invalid_cursor`, or an error of this operation.',
  ],
  401: ['GatewayRejection', 'The credential is missing or not valid. The body does not state the reason.'],
  402: ['Error', '`plan_required`: the plan of the organization does not include API access or this feature.'],
  403: ['GatewayRejection', 'The credential does not have the scope that this operation requires.'],
  404: ['Error', '`not_found`: the organization has no such object within its data retention.'],
  429: ['Error', '`rate_limited`: too many requests. Wait for the number of seconds in `Retry-After`.'],
  500: ['Error', '`internal_error`: the server failed.'],
  503: ['Error', '`unavailable`: the database or the object store cannot be reached.'],
}
const WRITE_ERROR_RESPONSES: typeof ERROR_RESPONSES = {
  409: ['Error', 'The request conflicts with the stored state. `error.code` states the reason.'],
  413: ['Error', '`payload_too_large`: the body exceeds the size limit of this operation.'],
  415: ['Error', '`unsupported_media_type`: the body is not `application/json`.'],
}

/** The response 403 of an operation that has an error of its own with this status. */
export const ForbiddenResponse = {
  description: 'The credential does not have the scope that this operation requires, or an error of this operation.',
  content: { 'application/json': { schema: { anyOf: [{ $ref: 'GatewayRejection#' }, { $ref: 'Error#' }] } } },
}

/** Allows only resources of this server. It does not force TLS: that is the operator's decision. */
const DOCS_CSP = "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'self'; base-uri 'self'"

type ApiDescription = {
  title: string
  description: string
  version: string
  serverUrl: string
  tags: readonly { name: string; description: string }[]
  /** By name, in OpenAPI's form. The first one applies to every route that names no other. */
  securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>
}

/** Describes every route as OpenAPI 3.1 (`GET /v1/openapi.json`) and as web pages (`/docs`). */
export async function registerOpenApi(app: FastifyInstance, api: ApiDescription): Promise<void> {
  const { title, description, version, serverUrl, tags, securitySchemes } = api
  for (const schema of [ErrorResponse, GatewayRejectionResponse]) app.addSchema(schema)
  app.addHook('onRoute', addErrorResponses)
  await app.register(swagger, {
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
      schema: url.startsWith('/v1') ? (referToShared(schema) as typeof schema) : { hide: true },
      url,
    }),
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`) },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: `${title} API` },
    staticCSP: true,
    transformStaticCSP: () => DOCS_CSP,
    indexPrefix: '',
  })
  app.get('/v1/openapi.json', { config: { public: true }, schema: { hide: true } }, async () => app.swagger())
}

function addErrorResponses(route: RouteOptions): void {
  if (!route.schema || route.schema.hide || !route.url.startsWith('/v1')) return
  const writes = ![route.method].flat().some((method) => method === 'GET' || method === 'HEAD')
  const described = Object.entries({ ...ERROR_RESPONSES, ...(writes && WRITE_ERROR_RESPONSES) })
  const responses = described.map(([status, [schema, description]]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: `${schema}#` } } } },
  ])
  route.schema.response = { ...Object.fromEntries(responses), ...(route.schema.response as object) }
}

/** Replaces each shared schema in a route by a reference to `components/schemas`. */
function referToShared(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(referToShared)
  if ('$id' in schema) return { $ref: `${schema.$id}#` }
  return Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, referToShared(inner)]))
}
