import type { FastifyInstance } from 'fastify'
import type { Services } from '../../services.ts'
import { registerAppSetupRoutes } from './github/app/app-setup.routes.ts'

/** The routes that hosts have of their own: the pages that set up an App. */
export async function registerHostRoutes(app: FastifyInstance, services: Services): Promise<void> {
  await app.register(async (scope) => registerAppSetupRoutes(scope, services))
}
