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
      preValidation: treatMissingBodyAsEmpty,
      schema: {
        operationId: 'approveDeployment',
        summary: 'Approve a deployment',
        description:
          "Approves the service's own protection rule. Required reviewers on the code host must still review. If a policy blocks the deployment, the key also needs the scope `write:compliance-override`.",
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Approved) },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, { ...body, decision: 'approved' })
      return { data: { approved: true as const, status } }
    },
  )

  app.post(
    '/v1/deployments/:id/reject',
    {
      config: { scope: 'write:deployments' },
      preValidation: treatMissingBodyAsEmpty,
      schema: {
        operationId: 'rejectDeployment',
        summary: 'Reject a deployment',
        description: "Rejects the service's own protection rule. A single rejection is final.",
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Rejected) },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, { ...body, decision: 'rejected' })
      return { data: { rejected: true as const, status } }
    },
  )
}

/** Treat a missing body as `{}`, so that it fails with `reason_required`. */
async function treatMissingBodyAsEmpty(request: FastifyRequest): Promise<void> {
  request.body ??= {}
}
