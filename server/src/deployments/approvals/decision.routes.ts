import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { ItemPath } from '../../access/gateway/change.schema.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { DeploymentDecision } from './decision.schema.ts'
import { describeDecision } from './describe-decision.ts'

export async function registerDeploymentDecisionRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/deployments/:id/decision`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getDeploymentDecision',
        summary: 'Get what decides a deployment',
        description:
          'Returns the gates of a deployment, the rules of its policies with their evidence, what policies and Shiplock did, ' +
          'and whether you can answer the deployment.',
        tags: ['Deployments'],
        params: ItemPath,
        response: { 200: Envelope(DeploymentDecision, 'What decides the deployment.') },
      },
    },
    async ({ actor, params }) => ({ data: await describeDecision(services, actor, params.id) }),
  )
}
