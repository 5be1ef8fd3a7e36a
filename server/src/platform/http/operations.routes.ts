import type { FastifyInstance } from 'fastify'

/**
 * A dependency that must work before the server can answer requests. `check` throws if it does not.
 */
type ReadinessCheck = { name: string; check: () => Promise<void> }

const CHECK_TIMEOUT_MS = 3000

/** Liveness and readiness. Neither needs a key (operating guide, "Health"). */
export function registerHealth(app: FastifyInstance, checks: ReadinessCheck[]): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ ok: true }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const results = await Promise.all(checks.map(runCheck))
    const ok = results.every((result) => result.ok) && !app.stopping.isStopping
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

/** The metrics of the program, for Prometheus. They need no key. */
export function registerMetrics(
  app: FastifyInstance,
  read: () => Promise<{ contentType: string; text: string }>,
): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await read()
    return reply.type(contentType).send(text)
  })
}
