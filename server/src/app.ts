import type { FastifyInstance } from 'fastify'
import { registerAuthorization } from './access/authorize.ts'
import { pipelineRunRoutes } from './ci/pipeline-run.routes.ts'
import { runRoutes } from './ci/run.routes.ts'
import { pendingMigrations } from './platform/db/migrate.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { registerOpenApi } from './platform/http/openapi.ts'
import { registerOperations } from './platform/http/operations.routes.ts'
import { CiRun } from './ci/run.schema.ts'
import { PipelineRun } from './ci/pipeline-run.schema.ts'
import type { Services } from './services.ts'

export const API_VERSION = '1.0.0'

/** The whole API: what every request passes, then every slice's routes in one list. */
export async function createApp(services: Services): Promise<HttpServer> {
  const app = createHttpServer(services.log)
  const base = app as unknown as FastifyInstance
  for (const schema of [CiRun, PipelineRun]) app.addSchema(schema)
  await registerOpenApi(base, { version: API_VERSION, serverUrl: services.config.baseUrl })
  registerOperations(base, readinessChecks(services))
  await registerAuthorization(base, services)

  await app.register(runRoutes, services)
  await app.register(pipelineRunRoutes, services)
  return app
}

function readinessChecks({ sql, objects }: Services) {
  return [
    { name: 'database', check: async () => void (await sql`select 1`) },
    { name: 'migrations', check: async () => refusePending(await pendingMigrations(sql)) },
    { name: 'objects', check: () => objects.check() },
  ]
}

function refusePending(names: string[]): void {
  if (names.length > 0) throw new Error(`Not migrated yet: ${names.join(', ')}`)
}
