import type { FastifyInstance } from 'fastify'
import program from '../../package.json' with { type: 'json' }
import { listPendingMigrations } from '../platform/db/migrations/migrate.ts'
import { checkSql } from '../platform/db/sql.ts'
import { createHttpServer } from '../platform/http/http-server.ts'
import { selectPort } from '../platform/http/listener.ts'
import { registerHealth, registerMetrics } from '../platform/http/operations.routes.ts'
import { createStateMetrics, defineGauge, measureProcess, readMetrics } from '../platform/metrics.ts'
import type { Services } from '../services.ts'
import { STATE_SOURCES } from './state-sources.ts'

const build = defineGauge('shiplock_build_info', 'Always 1. The labels state the running versions.', [
  'version',
  'node',
])
build.set({ version: program.version, node: process.versions.node }, 1)

type ServingMetrics = {
  url: string
  close: () => Promise<void>
}

/** Adds `/metrics` with everything that this process can measure. */
export function registerProcessMetrics(app: FastifyInstance, services: Services): void {
  measureProcess()
  const state = createStateMetrics(services, STATE_SOURCES)
  registerMetrics(app, () => readMetrics(state))
}

/**
 * Serves metrics and health on the port of `SHIPLOCK_METRICS_PORT`, where no API is. Null without
 * the setting.
 */
export async function serveMetrics(services: Services): Promise<ServingMetrics | null> {
  const { host, metricsPort } = services.config
  if (metricsPort === null) return null
  const app = createHttpServer(services.log)
  const base = app as unknown as FastifyInstance
  registerHealth(base, defineReadinessChecks(services))
  registerProcessMetrics(base, services)
  await app.ready()
  const port = await selectPort(host, metricsPort)
  await port.listen(app.server).catch((cause) => {
    throw new Error(`Port ${metricsPort} of ${host} cannot be used: ${cause.message}; change SHIPLOCK_METRICS_PORT`, {
      cause,
    })
  })
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port.number}`
  return { url, close: () => app.close() }
}

/** What must work before the program can do anything. */
export function defineReadinessChecks({ sql, objects }: Services) {
  const checkMigrations = async () => {
    const names = await listPendingMigrations(sql)
    if (names.length > 0) throw new Error(`Not migrated: ${names.join(', ')}`)
  }
  return [
    { name: 'database', check: () => checkSql(sql) },
    { name: 'migrations', check: checkMigrations },
    { name: 'objects', check: () => objects.check() },
  ]
}
