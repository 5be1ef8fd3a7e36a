import type { FastifyRequest } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { DeploymentPath } from '../deployment.schema.ts'
import { Approved, NewAnswer, Rejected } from './answer.schema.ts'
import { answerDeployment } from './answer-deployment.ts'

export async function answerRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/v1/deployments/:id/approve',
    {
      config: { scope: 'write:deployments' },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: 'approveDeployment',
        summary: "Approve the service's own rule of a deployment",
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Approved) },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, 'approved', body)
      return { data: { approved: true as const, status } }
    },
  )

  app.post(
    '/v1/deployments/:id/reject',
    {
      config: { scope: 'write:deployments' },
      preValidation: takeNoBodyAsEmpty,
      schema: {
        operationId: 'rejectDeployment',
        summary: "Reject the service's own rule of a deployment",
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Rejected) },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, 'rejected', body)
      return { data: { rejected: true as const, status } }
    },
  )
}

/** No body is one without a reason, and says so as that does. */
async function takeNoBodyAsEmpty(request: FastifyRequest): Promise<void> {
  request.body ??= {}
}
