import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'

const ERROR_RESPONSES = {
  400: 'The request is not valid.',
  401: 'No key, or a key that cannot be accepted.',
  402: 'The plan does not include this.',
  403: 'The key lacks the scope.',
  404: 'No such item in the organization, within its retention.',
  429: 'Too many requests. `Retry-After` says when to try again.',
  500: 'A failure on our side.',
  503: 'The database or the object store cannot be reached.',
}

/** Describes every route as OpenAPI 3.1 (`GET /v1/openapi.json`) and as pages for a browser (`/docs`). */
export async function registerOpenApi(app: FastifyInstance, document: { version: string; serverUrl: string }) {
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
        },
      },
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `def-${index}`) },
  })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, indexPrefix: '' })
  app.get('/v1/openapi.json', { config: { public: true }, schema: { hide: true } }, async () => app.swagger())
}

function addErrorResponses(route: RouteOptions): void {
  if (!route.schema || route.schema.hide || !route.url.startsWith('/v1')) return
  const described = Object.entries(ERROR_RESPONSES).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: 'Error#' } } } },
  ])
  route.schema.response = { ...Object.fromEntries(described), ...(route.schema.response as object) }
}
