import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { defineCounter, defineHistogram } from '../metrics.ts'
import { startSpan, type Work, withWork } from '../tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The ids of the request for the log, and its span. */
    work: Work
  }
}

const seconds = defineHistogram(
  'shiplock_http_request_duration_seconds',
  'Time from the request to the end of its response, by route and class of the status (2xx).',
  ['method', 'route', 'status'],
)
const limited = defineCounter(
  'shiplock_http_rate_limited_total',
  'Requests that were refused with 429 because of a rate limit.',
  ['route'],
)

const UNKNOWN = 'unknown'

/**
 * Makes everything that belongs to a request know it: log lines state its ids, and spans are parts
 * of its trace. Register it before all other hooks.
 */
export function registerRequestWork(app: FastifyInstance): void {
  app.decorateRequest('work', null as unknown as Work)
  app.addHook('onRequest', (request, _reply, done) => {
    request.work = { fields: { request_id: request.id }, span: startRequestSpan(request) }
    withWork(request.work, done)
  })
  // After a body has arrived, the hooks are called by the connection, which belongs to no request.
  app.addHook('preValidation', (request, _reply, done) => withWork(request.work, done))
  app.addHook('onResponse', (request, reply, done) => {
    measure(request, reply)
    done()
  })
}

function startRequestSpan(request: FastifyRequest) {
  const { traceparent } = request.headers
  return startSpan({
    name: `${request.method} ${getRoute(request)}`,
    kind: 'server',
    attributes: {
      'http.request.method': request.method,
      'http.route': getRoute(request),
      'shiplock.request_id': request.id,
    },
    parent: typeof traceparent === 'string' ? traceparent : null,
  })
}

function measure(request: FastifyRequest, reply: FastifyReply): void {
  const { method, work } = request
  const route = getRoute(request)
  const { statusCode, elapsedTime } = reply
  seconds.observe({ method, route, status: `${Math.floor(statusCode / 100)}xx` }, elapsedTime / 1000)
  if (statusCode === 429) limited.inc({ route })
  const line = { ...work.fields, method, route, status: statusCode, duration_ms: Math.round(elapsedTime) }
  request.log.debug(line, 'Request')
  work.span?.set('http.response.status_code', statusCode)
  work.span?.end(statusCode >= 500 ? new Error() : undefined)
}

/** The pattern of the route, because paths and parameters may contain secrets. */
function getRoute({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? UNKNOWN
}
