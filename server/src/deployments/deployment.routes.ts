import { listContext } from '../access/actor.ts'
import { computeRetentionStart } from '../organizations/plan.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { readPage, sendPage } from '../platform/http/lists.ts'
import { sendData } from '../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import { Deployment, DeploymentPath, DeploymentQuery } from './deployment.schema.ts'
import { findDeployment, listDeployments } from './deployment.store.ts'

export async function registerDeploymentRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/deployments',
    {
      config: { scope: 'read:deployments', permission: 'view' },
      schema: {
        operationId: 'listDeployments',
        summary: 'List deployments',
        description: 'Returns the deployments of the organization, newest first.',
        tags: ['Deployments'],
        querystring: DeploymentQuery,
        response: { 200: ListEnvelope(Deployment, 'A page of deployments.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = readPage(query, context)
      const filter = {
        status: query.status,
        environment: query.environment,
        repository_full_name: query.repository,
        workflow_name: query.workflow,
        workflow_path: query.workflow_path,
        pipeline_run_id: query.run_id,
      }
      const selection = { filter, now: context.now }
      const rows = await services.reads.read((sql) => listDeployments(sql, actor.org_id, page, selection))
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    '/v1/deployments/:id',
    {
      config: { scope: 'read:deployments', permission: 'view' },
      schema: {
        operationId: 'getDeployment',
        summary: 'Get a deployment',
        description: 'Returns a deployment with its reviews, approvals and latest policy evaluation.',
        tags: ['Deployments'],
        params: DeploymentPath,
        response: { 200: Envelope(Deployment, 'The deployment.') },
      },
    },
    async (request, reply) => {
      const { org_id, plan } = request.actor
      const now = services.clock.now()
      const window = { retainedSince: computeRetentionStart(plan, now), now }
      const json = await findDeployment(services.sql, org_id, request.params.id, window)
      if (json === null) throw createNotFoundError('deployment')
      return sendData(reply, json)
    },
  )
}
