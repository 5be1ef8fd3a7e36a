import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/**
 * A dependency that must work before the server can answer requests. `check` throws if it does not.
 */
type ReadinessCheck = { name: string; check: () => Promise<void> }

const CHECK_TIMEOUT_MS = 3000

/** Liveness, readiness and metrics. None of them needs a key (operating guide). */
export function registerOperations(app: FastifyInstance, checks: ReadinessCheck[]): void {
  registerMetrics(app)
  app.get('/healthz', { schema: { hide: true } }, async () => ({ ok: true }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const results = await Promise.all(checks.map(runCheck))
    const ok = results.every((result) => result.ok)
    if (!ok) reply.code(503).header('retry-after', 5)
    return { ok, checks: results }
  })
}

/** Does not expose the reason of a failure, because a driver's message may contain an address. */
async function runCheck({ name, check }: ReadinessCheck): Promise<{ name: string; ok: boolean }> {
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS)
  const expired = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(timeout.reason), { once: true })
  })
  return Promise.race([check(), expired]).then(
    () => ({ name, ok: true }),
    () => ({ name, ok: false }),
  )
}

function registerMetrics(app: FastifyInstance): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'shiplock_http_request_duration_seconds',
    help: 'Time from the request to the end of its response, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  })
  app.addHook('onResponse', (request, reply, done) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'unknown', status: reply.statusCode }
    duration.observe(labels, reply.elapsedTime / 1000)
    done()
  })
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
