import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { ErrorResponse, GatewayRejectionResponse } from './schemas.ts'

/** Name of a shared schema, and what the status means. */
const ERROR_RESPONSES: Record<string, [schema: string, description: string]> = {
  400: ['Error', 'The request is not valid.'],
  401: ['GatewayRejection', 'No key, or a key that cannot be accepted. The body never says which.'],
  402: ['Error', 'The plan does not include this.'],
  403: ['GatewayRejection', 'The key lacks the scope.'],
  404: ['Error', 'No such item in the organization, within its retention.'],
  429: ['Error', 'Too many requests. `Retry-After` says when to try again.'],
  500: ['Error', 'A failure on our side.'],
  503: ['Error', 'The database or the object store cannot be reached.'],
}
const WRITE_ERROR_RESPONSES: typeof ERROR_RESPONSES = {
  409: ['Error', 'What is stored does not allow this; `error.code` says why.'],
  413: ['Error', 'The body is larger than this route takes.'],
  415: ['Error', 'The body is not application/json.'],
}

/** Pages of our own only. Plain http stays possible: whoever hosts this decides about TLS. */
const DOCS_CSP = "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'self'; base-uri 'self'"

/** Describes every route as OpenAPI 3.1 (`GET /v1/openapi.json`) and as pages for a browser (`/docs`). */
export async function registerOpenApi(app: FastifyInstance, document: { version: string; serverUrl: string }) {
  for (const schema of [ErrorResponse, GatewayRejectionResponse]) app.addSchema(schema)
  app.addHook('onRoute', addErrorResponses)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Shiplock',
        description: 'The record and the gate of a delivery pipeline.',
        version: document.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: document.serverUrl }],
      security: [{ apiKey: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: "An organization's API key: `shl_live_…`." },
          pollToken: { type: 'http', scheme: 'bearer', description: "A gate's poll token: `shl_gate_…`." },
        },
      },
    },
    transform: ({ schema, url }) => ({
      // Only /v1 is the API; the store's addresses come from responses and may be another machine's.
      schema: url.startsWith('/v1') ? (referToShared(schema) as typeof schema) : { hide: true },
      url,
    }),
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`) },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Shiplock API' },
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

/** Shared schemas stand once under components/schemas; where a route holds one, the document refers to it. */
function referToShared(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(referToShared)
  if ('$id' in schema) return { $ref: `${schema.$id}#` }
  return Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, referToShared(inner)]))
}
